#ifndef ATTEND_SERVER_HUB_HUB_DOWNLOAD_H_
#define ATTEND_SERVER_HUB_HUB_DOWNLOAD_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/hub/blob_file.h"
#include "server/hub/hub_cache.h"
#include "server/hub/hub_http.h"
#include "server/observability/log.h"

namespace attend {

// A file on a hub, as the head of its answer says.
struct HubFile {
  std::string path;  // in the model
  std::string url;
  std::string hash;  // see content_hash.h
  int64_t size = 0;
};

// Asks for what a file is. FAILED_PRECONDITION: the server does not say its
// hash or its size.
absl::StatusOr<HubFile> LookUp(HubHttp& http, const std::string& url,
                               const std::string& path, bool with_token);

// Downloads files of one commit into the cache. They join a snapshot only when
// they are complete and match their hash. An interrupted download
// resumes. Other processes may do the same concurrently.
class HubDownload {
 public:
  // All must outlive the HubDownload. `model` is the name in the log.
  HubDownload(HubHttp& http, const HubCache& cache, const std::string& commit,
              const std::string& model, bool with_token, Log& log)
      : http_(http),
        cache_(cache),
        commit_(commit),
        model_(model),
        with_token_(with_token),
        log_(log) {}

  absl::Status Fetch(const HubFile& file);

  int64_t bytes() const { return bytes_; }  // that came

 private:
  absl::Status FetchBlob(const HubFile& file);
  // Brings what the file lacks, with all retries.
  absl::Status Complete(const HubFile& file, BlobFile& blob);
  // The same, once.
  absl::Status Try(const HubFile& file, BlobFile& blob);
  absl::Status Take(const HubFile& file, const HubAnswer& answer,
                    absl::string_view bytes, bool first, BlobFile& blob);
  absl::Status CheckSpace(const HubFile& file, const BlobFile& blob) const;
  void LogProgress(const HubFile& file, const BlobFile& blob);

  HubHttp& http_;
  const HubCache& cache_;
  const std::string& commit_;
  const std::string& model_;
  const bool with_token_;
  Log& log_;
  int64_t bytes_ = 0;
  absl::Time next_line_ = absl::InfinitePast();
};

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_DOWNLOAD_H_
