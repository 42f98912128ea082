#include "server/hub/hub_cache.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "server/hub/hub_files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(absl::string_view what, const std::string& path,
                         const std::error_code& error) {
  const std::string text =
      absl::StrCat(path, ": cannot ", what, ": ", error.message());
  return error == std::errc::no_space_on_device
             ? absl::ResourceExhaustedError(text)
             : absl::FailedPreconditionError(text);
}

absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return SystemError("be made as a directory for the hub's cache", path, error);
}

// Nobody sees a part of it: `make` makes a new file, which takes the place of
// `path`.
template <class Make>
absl::Status Replace(absl::string_view what, const std::string& path,
                     Make make) {
  RETURN_IF_ERROR(MakeDirectory(fs::path(path).parent_path()));
  const std::string fresh = absl::StrCat(path, ".", getpid(), ".new");
  std::error_code error;
  fs::remove(fresh, error);
  make(fresh, error);
  if (!error) fs::rename(fresh, path, error);
  if (!error) return absl::OkStatus();
  std::error_code ignored;
  fs::remove(fresh, ignored);
  return SystemError(what, path, error);
}

std::string FolderName(const std::string& repository) {
  return absl::StrCat("models--",
                      absl::StrReplaceAll(repository, {{"/", "--"}}));
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The weights in folders of modules of sentence-transformers.
std::vector<std::string> ModuleWeights(const fs::path& snapshot) {
  std::vector<std::string> weights;
  std::error_code ignored;
  for (fs::recursive_directory_iterator entry(snapshot, ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    const fs::path path = entry->path().lexically_relative(snapshot);
    if (IsWeights(path.string()) &&
        IsModuleFolder(path.parent_path().string())) {
      weights.push_back(path.string());
    }
  }
  return weights;
}

// The files that have the weights of a snapshot, or list those that do, and the
// file that describes the model. If there are none: those that a model usually
// has.
std::vector<std::string> MainFilesOf(const fs::path& snapshot) {
  for (const char* file : {kWeightsFile, kIndexFile, kCtranslate2File,
                           kTorchFile, kTorchIndexFile}) {
    if (Exists(snapshot / file)) return {"config.json", file};
  }
  std::vector<std::string> files = ModuleWeights(snapshot);
  if (std::none_of(files.begin(), files.end(), [](const std::string& file) {
        return IsFirstModuleFolder(file.substr(0, file.rfind('/')));
      })) {
    return {"config.json", kWeightsFile};
  }
  files.push_back(kModulesFile);
  return files;
}

}  // namespace

HubCache::HubCache(const std::string& directory, const HubReference& reference)
    : reference_(reference),
      locks_(absl::StrCat(directory, "/.locks/",
                          FolderName(reference.repository))),
      model_(absl::StrCat(directory, "/", FolderName(reference.repository))) {}

std::string HubCache::Snapshot(absl::string_view commit) const {
  return absl::StrCat(model_, "/snapshots/", commit);
}

std::string HubCache::Blob(absl::string_view hash) const {
  return absl::StrCat(model_, "/blobs/", hash);
}

std::string HubCache::Incomplete(absl::string_view hash) const {
  return absl::StrCat(Blob(hash), ".incomplete");
}

std::string HubCache::Lock(absl::string_view hash) const {
  return absl::StrCat(locks_, "/", hash, ".lock");
}

std::string HubCache::Ref() const {
  return absl::StrCat(model_, "/refs/", reference_.revision);
}

std::string HubCache::Mark(const std::string& commit) const {
  return absl::StrCat(model_, "/.attend/", commit);
}

void HubCache::Remember(const std::string& commit) const {
  if (Remembers(commit)) return;
  static_cast<void>(Replace("write", Mark(commit),
                            [](const std::string& fresh, std::error_code&) {
                              std::ofstream file(fresh);
                            }));
}

bool HubCache::Remembers(const std::string& commit) const {
  return Exists(Mark(commit));
}

absl::StatusOr<std::string> HubCache::Commit() const {
  if (IsCommit(reference_.revision)) return reference_.revision;
  std::ifstream file(Ref());
  std::string commit;
  std::getline(file, commit);
  absl::StripAsciiWhitespace(&commit);
  if (IsCommit(commit)) return commit;
  return absl::NotFoundError(
      absl::StrCat(reference_.repository, ": the hub's cache has no revision '",
                   reference_.revision, "', which would be ", Ref()));
}

absl::Status HubCache::SetCommit(const std::string& commit) const {
  // A cache that has all of it may be one that cannot be written.
  if (const auto known = Commit(); known.ok() && *known == commit) {
    return absl::OkStatus();
  }
  return Replace("write", Ref(),
                 [&](const std::string& fresh, std::error_code& error) {
                   std::ofstream file(fresh);
                   file << commit;
                   file.close();
                   if (!file) {
                     error = std::make_error_code(std::errc::io_error);
                   }
                 });
}

absl::Status HubCache::Link(absl::string_view commit, absl::string_view file,
                            absl::string_view hash) const {
  const fs::path path = fs::path(Snapshot(commit)) / std::string(file);
  std::error_code ignored;
  if (fs::equivalent(path, Blob(hash), ignored)) return absl::OkStatus();
  const fs::path target =
      fs::path(Blob(hash)).lexically_relative(path.parent_path());
  return Replace("make a link", path.string(),
                 [&](const std::string& fresh, std::error_code& error) {
                   fs::create_symlink(target, fresh, error);
                 });
}

bool HubCache::Has(absl::string_view commit, absl::string_view file) const {
  return Exists(fs::path(Snapshot(commit)) / std::string(file));
}

absl::Status HubCache::CheckWhole(absl::string_view commit) const {
  const fs::path snapshot = Snapshot(commit);
  std::vector<std::string> needed = PartsOf(reference_.file);
  if (needed.empty()) {
    needed = MainFilesOf(snapshot);
    for (const std::string& file : std::vector<std::string>(needed)) {
      if (!IsIndex(file)) continue;
      ASSIGN_OR_RETURN(const std::vector<std::string> shards,
                       ShardsIn(snapshot.string(), file));
      needed.insert(needed.end(), shards.begin(), shards.end());
    }
  }
  for (const std::string& file : needed) {
    if (Exists(snapshot / file)) continue;
    return absl::NotFoundError(absl::StrCat(
        reference_.repository, ": the hub's cache has no ", file, " of '",
        reference_.revision, "', which would be ", (snapshot / file).string()));
  }
  return absl::OkStatus();
}

std::string HubCache::ModelPath(absl::string_view commit) const {
  const std::string snapshot = Snapshot(commit);
  return reference_.file.empty() ? snapshot
                                 : absl::StrCat(snapshot, "/", reference_.file);
}

absl::Status HubCache::MakeDirectories() const {
  RETURN_IF_ERROR(MakeDirectory(model_ + "/blobs"));
  return MakeDirectory(locks_);
}

}  // namespace attend
