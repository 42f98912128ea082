#include "engine/checkpoint/weight_files.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/checkpoint/other_weights.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int kMaxShards = 1000;
constexpr const char* kNames[] = {"model.safetensors", "pytorch_model.bin"};

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The files that an index lists; each is a plain name in the same directory.
absl::StatusOr<WeightFiles> ReadIndex(const std::string& path) {
  WeightFiles files;
  files.index = path;
  ASSIGN_OR_RETURN(const JsonFile json, JsonFile::Load(path));
  ASSIGN_OR_RETURN(files.places, json.StringMap("weight_map"));
  for (const auto& [tensor, file] : files.places) {
    if (!IsPlainName(file)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": tensor ", tensor, " is in \"", file,
                       "\", expected the name of a file beside the index"));
    }
    files.names.insert(file);
  }
  if (files.names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": weight_map is empty"));
  }
  return files;
}

// The files of a model in shards that have no index, by the names that
// transformers gives them: NAME-00001-of-00003.END. None if the first is not
// there.
absl::StatusOr<WeightFiles> FindShards(const std::string& directory,
                                       absl::string_view name,
                                       absl::string_view end) {
  WeightFiles files;
  for (int count = 1; count <= kMaxShards; ++count) {
    const auto shard = [&](int number) {
      return absl::StrFormat("%s-%05d-of-%05d%s", name, number, count, end);
    };
    if (!Exists(absl::StrCat(directory, "/", shard(1)))) continue;
    for (int number = 1; number <= count; ++number) {
      if (!Exists(absl::StrCat(directory, "/", shard(number)))) {
        return absl::NotFoundError(absl::StrCat(directory, ": has ", shard(1),
                                                " but no ", shard(number)));
      }
      files.names.insert(shard(number));
    }
    break;
  }
  return files;
}

}  // namespace

bool IsPlainName(absl::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == absl::string_view::npos &&
         name.find('\\') == absl::string_view::npos &&
         name.find('\0') == absl::string_view::npos;
}

absl::StatusOr<WeightFiles> FindWeightFiles(const std::string& directory) {
  for (const char* name : kNames) {
    const std::string path = absl::StrCat(directory, "/", name);
    if (Exists(path)) return WeightFiles{.names = {name}};
    const std::string index = path + ".index.json";
    if (Exists(index)) return ReadIndex(index);
  }
  for (const char* name : kNames) {
    const absl::string_view file = name;
    const size_t dot = file.rfind('.');
    ASSIGN_OR_RETURN(
        WeightFiles shards,
        FindShards(directory, file.substr(0, dot), file.substr(dot)));
    if (!shards.names.empty()) return shards;
  }
  return NoWeights(directory);
}

}  // namespace attend
