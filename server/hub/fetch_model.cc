#include "server/hub/fetch_model.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/tensor/status_macros.h"
#include "server/hub/hub_cache.h"
#include "server/hub/hub_download.h"
#include "server/hub/hub_files.h"
#include "server/hub/hub_http.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

constexpr size_t kMaxListingBytes = size_t{16} << 20;

// One fetch of a model.
class Fetch {
 public:
  Fetch(const HubSettings& settings, const HubReference& reference,
        const std::string& name, const std::function<bool()>& stopping,
        Log& log)
      : settings_(settings),
        reference_(reference),
        name_(name),
        log_(log),
        cache_(settings.cache, reference),
        http_(settings, stopping) {}

  absl::StatusOr<std::string> Run();

 private:
  // The commit that the cache has, as a whole.
  absl::StatusOr<std::string> CachedCommit() const;
  std::string ServeCached(const std::string& commit) const;
  // Fetches the current version from the hub. `retry`: ask again where it does
  // not answer.
  absl::StatusOr<std::string> FromHub(bool retry);
  absl::StatusOr<HubListing> List(bool retry);
  absl::StatusOr<std::string> Download(const HubListing& listing);
  absl::Status DownloadFiles(const std::vector<std::string>& paths,
                             HubDownload& download, const std::string& commit);

  const HubSettings& settings_;
  const HubReference& reference_;
  const std::string& name_;
  Log& log_;
  const HubCache cache_;
  HubHttp http_;
};

absl::StatusOr<std::string> Fetch::CachedCommit() const {
  ASSIGN_OR_RETURN(std::string commit, cache_.Commit());
  RETURN_IF_ERROR(cache_.CheckWhole(commit));
  return commit;
}

std::string Fetch::ServeCached(const std::string& commit) const {
  log_.Write(LogLevel::kInfo, "hub_cached",
             {{"model", name_},
              {"repository", reference_.repository},
              {"commit", commit}});
  return cache_.ModelPath(commit);
}

absl::StatusOr<HubListing> Fetch::List(bool retry) {
  const std::string url = absl::StrCat(
      settings_.endpoint, "/api/models/", reference_.repository, "/revision/",
      absl::StrReplaceAll(reference_.revision, {{"/", "%2F"}}));
  std::string body;
  const auto attempt = [&]() -> absl::Status {
    body.clear();
    const auto take = [&](const HubAnswer&, absl::string_view bytes) {
      if (bytes.size() > kMaxListingBytes - body.size()) {
        return absl::FailedPreconditionError(absl::StrCat(
            url, ": the answer has more than ", kMaxListingBytes, " bytes"));
      }
      absl::StrAppend(&body, bytes);
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(const HubAnswer answer, http_.Get(url, 0, take));
    if (answer.status == 200) return absl::OkStatus();
    return HubStatusError(answer, url, !settings_.token.empty());
  };
  RETURN_IF_ERROR(retry ? http_.Retry(attempt) : attempt());
  return ParseHubListing(url, body);
}

absl::StatusOr<std::string> Fetch::FromHub(bool retry) {
  ASSIGN_OR_RETURN(const HubListing listing, List(retry));
  if (IsCommit(reference_.revision) && listing.commit != reference_.revision) {
    return absl::FailedPreconditionError(
        absl::StrCat(reference_.repository, ": asked for commit ",
                     reference_.revision, ", got ", listing.commit));
  }
  return Download(listing);
}

absl::Status Fetch::DownloadFiles(const std::vector<std::string>& paths,
                                  HubDownload& download,
                                  const std::string& commit) {
  for (const std::string& path : paths) {
    if (cache_.Has(commit, path)) continue;
    const std::string url =
        absl::StrCat(settings_.endpoint, "/", reference_.repository,
                     "/resolve/", commit, "/", path);
    ASSIGN_OR_RETURN(const HubFile file,
                     LookUp(http_, url, path, !settings_.token.empty()));
    RETURN_IF_ERROR(download.Fetch(file));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Fetch::Download(const HubListing& listing) {
  const absl::Time begin = SteadyNow();
  ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                   ChooseFiles(reference_, listing));
  log_.Write(LogLevel::kInfo, "hub_fetching",
             {{"model", name_},
              {"repository", reference_.repository},
              {"revision", reference_.revision},
              {"commit", listing.commit},
              {"cache", settings_.cache}});
  RETURN_IF_ERROR(cache_.MakeDirectories());
  HubDownload download(http_, cache_, listing.commit, name_,
                       !settings_.token.empty(), log_);
  RETURN_IF_ERROR(DownloadFiles(paths, download, listing.commit));
  for (const std::string& path : paths) {
    if (!IsIndex(path)) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> shards,
                     ShardsIn(cache_.Snapshot(listing.commit), path));
    RETURN_IF_ERROR(DownloadFiles(shards, download, listing.commit));
  }
  // Only now: who is offline takes a revision that is here to be whole.
  RETURN_IF_ERROR(cache_.SetCommit(listing.commit));
  if (reference_.file.empty()) cache_.Remember(listing.commit);
  log_.Write(LogLevel::kInfo, "hub_fetched",
             {{"model", name_},
              {"repository", reference_.repository},
              {"commit", listing.commit},
              {"bytes", download.bytes()},
              {"seconds", SteadyNow() - begin}});
  return cache_.ModelPath(listing.commit);
}

absl::StatusOr<std::string> Fetch::Run() {
  const absl::StatusOr<std::string> cached = CachedCommit();
  const bool settled = IsCommit(reference_.revision) && cached.ok() &&
                       (!reference_.file.empty() || cache_.Remembers(*cached));
  if (cached.ok() && (settings_.offline || settled)) {
    return ServeCached(*cached);
  }
  if (settings_.offline) {
    return absl::NotFoundError(absl::StrCat(
        cached.status().message(),
        "; --hub-offline or HF_HUB_OFFLINE keeps it from being fetched"));
  }
  // With a cached model, the server does not wait for an unreachable hub.
  const absl::StatusOr<std::string> path = FromHub(!cached.ok());
  if (cached.ok() && absl::IsUnavailable(path.status())) {
    log_.Write(LogLevel::kWarning, "hub_unreachable",
               {{"model", name_},
                {"repository", reference_.repository},
                {"error", path.status().message()},
                {"warning", "what the cache has is served"}});
    return ServeCached(*cached);
  }
  return path;
}

}  // namespace

absl::StatusOr<std::string> FetchModel(const HubSettings& settings,
                                       const HubReference& reference,
                                       const std::string& name,
                                       const std::function<bool()>& stopping,
                                       Log& log) {
  return Fetch(settings, reference, name, stopping, log).Run();
}

}  // namespace attend
