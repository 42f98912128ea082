#ifndef ATTEND_ENGINE_FAMILIES_SHARED_MODULE_LIST_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_MODULE_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/model_info.h"
#include "engine/json/json_file.h"

namespace attend {

// A Transformer with code of its own in the repository, which chooses adapters.
inline constexpr absl::string_view kCustomTransformer = "custom_st.Transformer";

// A module in the files of sentence-transformers.
struct SentenceModule {
  std::string type;    // its class, without the package: "Pooling"
  std::string folder;  // in the model's directory; "": the directory itself
  // The value that names the class, for errors.
  JsonFile entry;
  std::string key;

  absl::Status Unexpected(absl::string_view expected) const {
    return entry.Unexpected(key, expected);
  }
};

// The module that reads a text.
struct FirstModule {
  enum class Kind {
    kTransformer,
    kStatic,        // a tokenizer and a table of vectors, whose mean is taken
    kSparseStatic,  // a tokenizer, and a weight of each token
  };
  Kind kind = Kind::kTransformer;
  std::string folder =
      {};                 // in the model's directory; "": the directory itself
  std::string directory;  // that folder, with the path of the model
};

// Ways to embed a text that begin with the same module.
struct RouteGroup {
  std::string directory;  // of the model
  FirstModule first;
  bool listed = false;  // there is a modules.json
  bool routed = false;  // a Router is among the modules
  // All modules of each route, in their order; one at least.
  std::vector<std::vector<SentenceModule>> routes = {{}};
};

// The modules of a model. A Router lists several ways through a model; only
// those that texts can take are here.
struct ModuleList {
  std::vector<RouteGroup> groups;  // one at least
  // Indices of routes, counted through all groups.
  RoleRoutes roles = {};
};

// Returns true if the path of a file or folder, "" or ".", leads to one in the
// folder that it is relative to.
bool IsPathInside(const std::string& path);

// Reads modules.json, and the router_config.json of a Router. Without
// modules.json: a transformer in the model's directory. INVALID_ARGUMENT names
// the file, the field, its value and what is supported.
absl::StatusOr<ModuleList> ReadModuleList(const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_MODULE_LIST_H_
