// The files that sentence-transformers puts beside a model. The input is each
// of them in turn, in a directory where the others are as they should be.
#include <array>

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

// A directory in which one of the files is to be written.
struct Beside {
  explicit Beside(const std::string& wrong) {
    for (const char* file : kFiles) {
      const auto right = ReadFile(kModel + std::string(file));
      if (file != wrong && right.ok()) directory.Write(file, *right);
    }
  }
  const FuzzDirectory directory;
};

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const Family known =
      *LoadFamily(*JsonFile::Load(std::string(kModel) + "config.json"));
  static const std::array<Beside, 5> all = {
      Beside(kFiles[0]), Beside(kFiles[1]), Beside(kFiles[2]),
      Beside(kFiles[3]), Beside(kFiles[4])};
  for (int i = 0; i < 5; ++i) {
    const FuzzDirectory& directory = all[i].directory;
    directory.Write(kFiles[i], View(data, size));
    Family family = known;
    const absl::Status status =
        ReadSentenceTransformers(directory.path(), family);
    // A module may be in a folder that is not there.
    if (!absl::IsNotFound(status)) Accepted(status, directory.path());
  }
  return 0;
}
