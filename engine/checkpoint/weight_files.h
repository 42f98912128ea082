#ifndef ATTEND_ENGINE_CHECKPOINT_WEIGHT_FILES_H_
#define ATTEND_ENGINE_CHECKPOINT_WEIGHT_FILES_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The files of a directory that have a model's weights.
struct WeightFiles {
  std::set<std::string> names = {};  // of files in the directory
  // Path of the index that lists them; "" if there is none.
  std::string index = {};
  // The file of each tensor, where there is an index.
  std::map<std::string, std::string> places = {};
};

// True if `name` can only name a file or folder directly in a directory.
bool IsPlainName(absl::string_view name);

// Finds, of model.safetensors, model.safetensors.index.json, pytorch_model.bin
// and pytorch_model.bin.index.json, the first that is there; else shards of one
// without an index. NOT_FOUND if there are none; see NoWeights().
absl::StatusOr<WeightFiles> FindWeightFiles(const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_WEIGHT_FILES_H_
