#ifndef ATTEND_SERVER_HUB_HUB_FILES_H_
#define ATTEND_SERVER_HUB_HUB_FILES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/hub/hub_reference.h"

namespace attend {

inline constexpr char kWeightsFile[] = "model.safetensors";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";
inline constexpr char kTorchFile[] = "pytorch_model.bin";
inline constexpr char kTorchIndexFile[] = "pytorch_model.bin.index.json";
inline constexpr char kCtranslate2File[] = "model.bin";
inline constexpr char kModulesFile[] = "modules.json";

// A hub's listing of a model's revision.
struct HubListing {
  std::string commit;
  std::vector<std::string> files;  // paths, as the hub has them
};

// Reads the answer to /api/models/OWNER/NAME/revision/REVISION. `name` stands
// for it in errors.
absl::StatusOr<HubListing> ParseHubListing(const std::string& name,
                                           absl::string_view json);

// The paths of the files that Attend needs, small ones before weights; of
// weights in shards the index only. Weights may be in folders of modules of
// sentence-transformers, and there alone. No code, and files of torch only
// where there are no safetensors. NOT_FOUND: there is no such GGUF file, or
// nothing that Attend can load; it says what to do.
absl::StatusOr<std::vector<std::string>> ChooseFiles(
    const HubReference& reference, const HubListing& listing);

// True for the path of the folder of a module of sentence-transformers, which
// may be a part of another ("2_Router/query_0_Dense").
bool IsModuleFolder(absl::string_view folder);
// True if the module may be the first of a model, which reads texts.
bool IsFirstModuleFolder(absl::string_view folder);

// A GGUF file, or all files of a model in several. Empty: `file` is.
std::vector<std::string> PartsOf(const std::string& file);

// True for a path to a file of weights, or to an index, which lists others.
bool IsWeights(absl::string_view file);
bool IsIndex(absl::string_view file);

// The paths in `directory` of the files that an index lists; see ShardsOf().
absl::StatusOr<std::vector<std::string>> ShardsIn(const std::string& directory,
                                                  const std::string& index);

// The files that an index of weights names. INVALID_ARGUMENT if it does not
// name weight files in its own folder.
absl::StatusOr<std::set<std::string>> ShardsOf(const std::string& index);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_FILES_H_
