// config.json beside a model of CTranslate2, for one that translates and one
// that continues texts.
#include <filesystem>

#include "engine/runtime/model_files.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

// A copy of a golden model, whose config.json each input writes.
class Model {
 public:
  explicit Model(const std::string& name) {
    for (const auto& file : std::filesystem::directory_iterator(
             ATTEND_SOURCE_DIR "/tests/golden/ctranslate2/" + name)) {
      const std::filesystem::path path = file.path();
      std::filesystem::create_symlink(
          path, directory_.path() + "/" + path.filename().string());
    }
  }

  void Open(absl::string_view config) const {
    directory_.Write("config.json", config);
    const auto files = OpenCtranslate2(directory_.path());
    if (!Accepted(files.status(), directory_.path())) return;
    ATTEND_CHECK(files->family.spec.Validate().ok());
    ATTEND_CHECK(files->generation.has_value());
    const int vocab = files->family.spec.decoder->embedding.vocab;
    for (const int id : files->generation->params.eos_ids) {
      ATTEND_CHECK(id >= 0 && id < vocab);
    }
  }

 private:
  const FuzzDirectory directory_;
};

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const Model translator("marian-int8");
  static const Model decoder("llama-int8");
  translator.Open(View(data, size));
  decoder.Open(View(data, size));
  return 0;
}
