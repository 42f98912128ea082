// The config.json of a model, as far as it is read before weights are.
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "engine/runtime/model_memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

absl::Status Load(const JsonFile& config) {
  static const FuzzDirectory empty;
  const auto family = LoadFamily(config);
  if (!family.ok()) return family.status();
  // Whatever is wrong here is our own mistake: the families check more.
  ATTEND_CHECK(family->spec.Validate().ok());
  const auto needs = ServingNeeds(family->spec, ComputeType::kBf16,
                                  FitOptions(family->spec, EngineOptions()));
  ATTEND_CHECK(!needs.empty());
  if (!family->spec.decoder) return absl::OkStatus();
  return LoadGenerationDefaults(empty.path(), config, family->spec).status();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const auto config = JsonFile::Parse("config.json", View(data, size));
  Accepted(config.ok() ? Load(*config) : config.status(), "config.json");
  return 0;
}
