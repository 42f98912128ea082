#ifndef ATTEND_SERVER_TENANTS_TENANT_FILE_H_
#define ATTEND_SERVER_TENANTS_TENANT_FILE_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"
#include "server/tenants/tenants.h"

namespace attend {

// The names that a file of tenants may refer to. An unknown name is not an
// error, because it may exist after another start: the log warns.
struct TenantReferences {
  // Models, whether they could be loaded or not, and aliases.
  std::vector<std::string> models;
  bool client_certificates = false;  // clients are asked for them
};

// The file of tenants, which is read again when it changes. Used by one thread;
// tenants() by any.
class TenantFile {
 public:
  // Interval of checks for changes of the file.
  static constexpr absl::Duration kPollInterval = absl::Seconds(2);

  // Reads the file. An error names the file and what is wrong in it. `metrics`
  // and `log` must outlive the TenantFile.
  static absl::StatusOr<std::unique_ptr<TenantFile>> Open(
      const std::string& path, TenantReferences references, Metrics& metrics,
      Log& log, absl::Time now);

  const Tenants& tenants() const { return tenants_; }

  // Reads the file again. If the file cannot be used, the tenants stay as they
  // are. The log says which of both happened.
  void Reload(absl::Time now);
  // The same, but only if the file has changed since it was last read. A file
  // that could not be used counts as read.
  void ReloadIfChanged(absl::Time now);

 private:
  // Identifies a state of the file: device, inode, size, and the times
  // (seconds, nanoseconds) of its contents and of its permissions. All 0: there
  // is no file.
  using Stamp = std::array<int64_t, 7>;

  TenantFile(const std::string& path, TenantReferences references,
             Metrics& metrics, Log& log)
      : path_(path),
        references_(std::move(references)),
        log_(log),
        tenants_(metrics) {}

  Stamp Look() const;
  absl::Status Read(absl::Time now);
  void WarnOfUnknown(const std::vector<TenantSettings>& tenants);

  const std::string path_;
  const TenantReferences references_;
  Log& log_;
  Tenants tenants_;
  Stamp seen_ = {};  // before it was last read
};

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_TENANT_FILE_H_
