#include "server/app/model_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/gguf/gguf_part_name.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// Links to other files, of the same sizes and times maybe, are other files.
std::string DescribeFile(const fs::path& path) {
  struct stat found = {};
  stat(path.c_str(), &found);
  return absl::StrCat(path.string(), " ", found.st_dev, " ", found.st_ino, " ",
                      found.st_size, " ", found.st_mtim.tv_sec, ".",
                      found.st_mtim.tv_nsec);
}

// Returns true if a file belongs to the model whose first file is `first`.
bool IsPart(const fs::path& path, const fs::path& first) {
  const auto part = ParseGgufPartName(path.string());
  const auto model = ParseGgufPartName(first.string());
  return path == first || (part && model && part->model == model->model);
}

// Describes a model's directory, or all files of a GGUF model.
std::string DescribeFiles(const fs::path& model) {
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(model, error)) {
    for (fs::recursive_directory_iterator entries(model, error);
         !error && entries != fs::recursive_directory_iterator();
         entries.increment(error)) {
      files.push_back(DescribeFile(entries->path()));
    }
  } else {
    for (fs::directory_iterator entries(model.parent_path(), error);
         !error && entries != fs::directory_iterator();
         entries.increment(error)) {
      if (IsPart(entries->path(), model)) {
        files.push_back(DescribeFile(entries->path()));
      }
    }
  }
  std::sort(files.begin(), files.end());
  return absl::StrJoin(files, "\n");
}

}  // namespace

ModelListing ListModelFiles(const std::string& models_dir,
                            const std::vector<ModelSource>& at_start,
                            std::error_code& error) {
  ModelListing listing;
  for (const ModelSource& source : ListModels(models_dir, error)) {
    const bool is_given = std::any_of(
        at_start.begin(), at_start.end(), [&](const ModelSource& given) {
          return given.name == source.name && !given.listed;
        });
    if (is_given) continue;
    listing[source.name] = {.version = source.version,
                            .files = DescribeFiles(source.directory)};
  }
  return listing;
}

void ModelWatch::TryAgain(const std::string& name) {
  const auto known = done_.find(name);
  if (known != done_.end()) known->second.files.clear();
}

std::vector<ModelChange> ModelWatch::Look(ModelListing now) {
  const auto has = [](const ModelListing& listing, const auto& model) {
    const auto found = listing.find(model.first);
    return found != listing.end() && found->second == model.second;
  };
  std::vector<ModelChange> changes;
  for (const auto& model : now) {
    if (has(done_, model) || !has(seen_, model)) continue;
    changes.push_back({.kind = ModelChange::Kind::kLoad,
                       .name = model.first,
                       .version = model.second.version});
    done_[model.first] = model.second;
  }
  std::erase_if(done_, [&](const auto& model) {
    if (now.contains(model.first) || seen_.contains(model.first)) return false;
    changes.push_back(
        {.kind = ModelChange::Kind::kUnload, .name = model.first});
    return true;
  });
  seen_ = std::move(now);
  return changes;
}

}  // namespace attend
