// The files that sentence-transformers puts beside a model. The input is each
// of them in turn, in a directory where the others are as they should be, and
// the configuration of a Router.
#include <array>

#include "engine/families/load_family.h"
#include "engine/families/shared/module_list.h"
#include "engine/families/shared/sentence_transformers.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
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

// The same for the configuration of a Router after the pooling.
struct BesideRouter {
  BesideRouter() {
    directory.Write("modules.json", R"([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"path": "", "type": "sentence_transformers.models.Router"}])");
  }
  const Beside beside{kFiles[0]};
  const FuzzDirectory& directory = beside.directory;
};

// Reads all routes of a model of the family.
absl::Status ReadAll(const std::string& directory, const Family& known) {
  ASSIGN_OR_RETURN(const ModuleList modules, ReadModuleList(directory));
  for (const RouteGroup& group : modules.groups) {
    Family family = known;
    RETURN_IF_ERROR(ReadSentenceTransformers(group, family));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const Family known =
      *LoadFamily(*JsonFile::Load(std::string(kModel) + "config.json"));
  static const std::array<Beside, 5> all = {
      Beside(kFiles[0]), Beside(kFiles[1]), Beside(kFiles[2]),
      Beside(kFiles[3]), Beside(kFiles[4])};
  static const BesideRouter router;
  const auto read = [&](const FuzzDirectory& directory, const char* file) {
    directory.Write(file, View(data, size));
    const absl::Status status = ReadAll(directory.path(), known);
    // A module may be in a folder that is not there.
    if (!absl::IsNotFound(status)) Accepted(status, directory.path());
  };
  for (int i = 0; i < 5; ++i) read(all[i].directory, kFiles[i]);
  read(router.directory, "router_config.json");
  return 0;
}
