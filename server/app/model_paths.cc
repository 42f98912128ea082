#include "server/app/model_paths.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/checkpoint/gguf/gguf_part_name.h"

namespace attend {

namespace fs = std::filesystem;

std::string AbsoluteDirectory(const std::string& directory) {
  std::error_code unknown;  // where we are: then it stays as it is
  const fs::path path = fs::absolute(directory, unknown);
  if (unknown) return directory;
  // ".." after a symbolic link leaves the link's target, not the link.
  const fs::path normal = path.lexically_normal();
  const bool same =
      fs::equivalent(path, normal, unknown) || !fs::exists(path, unknown);
  const fs::path& kept = same ? normal : path;
  return (kept.has_filename() ? kept : kept.parent_path()).string();
}

absl::Status WithoutDirectory(const absl::Status& status,
                              const std::string& directory) {
  const fs::path path(directory);
  if (path.extension() == ".gguf") {
    // An error may be about any part of a model in several files.
    const auto part = ParseGgufPartName(directory);
    const fs::path shared = part ? fs::path(part->model) : path;
    return absl::Status(
        status.code(),
        absl::StrReplaceAll(status.message(),
                            {{shared.string(), shared.filename().string()}}));
  }
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(status.message(),
                          {{absl::StrCat(directory, "/"), ""},
                           {directory, "the model's directory"}}));
}

absl::Status WithoutDirectories(const absl::Status& status,
                                const ModelSource& source) {
  // The longer path first: one may be the beginning of the other.
  std::vector<std::string> paths;
  if (!source.directory.empty()) paths.push_back(source.directory);
  if (!source.draft.empty()) paths.push_back(source.draft);
  if (!source.adapter.empty()) paths.push_back(source.adapter);
  std::sort(paths.begin(), paths.end(), std::greater<>());
  absl::Status result = status;
  if (!source.shortlist.empty()) {
    const fs::path file = source.shortlist;
    result = absl::Status(
        status.code(),
        absl::StrReplaceAll(status.message(),
                            {{file.string(), file.filename().string()}}));
  }
  for (const std::string& path : paths) result = WithoutDirectory(result, path);
  return result;
}

}  // namespace attend
