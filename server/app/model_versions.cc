#include "server/app/model_versions.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/tenants/version_name.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// Finds a model in `models_dir`, ignoring other entries.
absl::StatusOr<ModelSource> FindListed(const std::string& models_dir,
                                       absl::string_view name) {
  std::vector<ModelSource> found;
  std::error_code error;
  if (!models_dir.empty()) found = ListModels(models_dir, error);
  std::erase_if(found, [&](const ModelSource& s) { return s.name != name; });
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("models_dir cannot be read: ", error.message()));
  }
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "model '", absl::CHexEscape(name.substr(0, 100)),
        "' is neither one of the server's options nor in its models_dir"));
  }
  RETURN_IF_ERROR(CheckModelName(found.front().name));
  if (found.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("models_dir has ", found.size(), " models of the name '",
                     name, "', must have one"));
  }
  return found.front();
}

}  // namespace

std::optional<int64_t> HighestVersion(const std::string& directory) {
  std::optional<int64_t> highest;
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    std::error_code ignored;
    const auto version = ParseVersion(entries->path().filename().string());
    if (version && entries->is_directory(ignored)) {
      highest = std::max(highest, version);
    }
  }
  return highest;
}

absl::StatusOr<ModelSource> FindModel(const std::vector<ModelSource>& at_start,
                                      const std::string& models_dir,
                                      absl::string_view name, int64_t version) {
  if (const auto pinned = ParseVersionName(name)) {
    if (version != 0 && version != pinned->version) {
      return absl::InvalidArgumentError(
          absl::StrCat("version is ", version, ", and name is '", name,
                       "', must be the same version"));
    }
    // No version of a version.
    RETURN_IF_ERROR(CheckModelName(std::string(pinned->model)));
    ASSIGN_OR_RETURN(
        ModelSource source,
        FindModel(at_start, models_dir, pinned->model, pinned->version));
    source.name = std::string(name);
    return source;
  }
  ModelSource source;
  for (const ModelSource& one : at_start) {
    if (one.name == name) source = one;
  }
  if (source.listed || source.name.empty()) {
    ASSIGN_OR_RETURN(ModelSource listed, FindListed(models_dir, name));
    listed.draft = source.draft;
    listed.shortlist = source.shortlist;
    listed.adapter = source.adapter;
    source = std::move(listed);
  }
  if (version == 0 || version == source.version) return source;
  const fs::path directory = fs::path(source.versions) / absl::StrCat(version);
  std::error_code ignored;
  if (source.versions.empty() || !fs::is_directory(directory, ignored)) {
    return absl::NotFoundError(
        absl::StrCat("model '", source.name, "' has no version ", version,
                     ", its highest is ", source.version));
  }
  source.version = version;
  source.directory = directory.string();
  return source;
}

}  // namespace attend
