// generation_config.json, beside a model with an encoder and one without.
#include "engine/families/load_family.h"
#include "engine/families/shared/generation_config.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

struct Known {
  explicit Known(const std::string& path)
      : config(*JsonFile::Load(ATTEND_SOURCE_DIR "/" + path)),
        family(*LoadFamily(config)) {}
  const JsonFile config;
  const Family family;
};

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  static const Known models[] = {
      Known("models/en-de/config.json"),
      Known("tests/golden/families/gpt2-gelu/config.json")};
  directory.Write("generation_config.json", View(data, size));
  for (const Known& model : models) {
    const auto params = LoadGenerationDefaults(directory.path(), model.config,
                                               model.family.spec);
    if (!Accepted(params.status(), "generation_config.json")) continue;
    ATTEND_CHECK(params->params.max_new_tokens >= 0);
  }
  return 0;
}
