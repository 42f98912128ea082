// The files that sentence-transformers puts beside a model. The input is each
// of them in turn, and the others are as they should be.
#include "engine/families/load_family.h"
#include "engine/families/shared/sentence_transformers.h"
#include "engine/json/read_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

constexpr char kModel[] =
    ATTEND_SOURCE_DIR "/tests/golden/families/xlm-roberta-dense/";
constexpr const char* kFiles[] = {
    "modules.json", "1_Pooling/config.json", "2_Dense/config.json",
    "sentence_bert_config.json", "config_sentence_transformers.json"};

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const Family known =
      *LoadFamily(*JsonFile::Load(std::string(kModel) + "config.json"));
  static const FuzzDirectory directory;
  for (const char* wrong : kFiles) {
    for (const char* file : kFiles) {
      const auto right = ReadFile(kModel + std::string(file));
      if (right.ok()) directory.Write(file, *right);
    }
    directory.Write(wrong, View(data, size));
    Family family = known;
    const absl::Status status =
        ReadSentenceTransformers(directory.path(), family);
    std::filesystem::remove(directory.path() + "/" + wrong);
    // A module may be in a folder that is not there.
    if (!absl::IsNotFound(status)) Accepted(status, directory.path());
  }
  return 0;
}
