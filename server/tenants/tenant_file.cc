#include "server/tenants/tenant_file.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "server/tenants/tenant_settings.h"

namespace attend {

absl::StatusOr<std::unique_ptr<TenantFile>> TenantFile::Open(
    const std::string& path, Metrics& metrics, Log& log, absl::Time now) {
  std::unique_ptr<TenantFile> file(new TenantFile(path, metrics, log));
  RETURN_IF_ERROR(file->Read(now));
  return file;
}

TenantFile::Stamp TenantFile::Look() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) return {};
  return {static_cast<int64_t>(status.st_dev),
          static_cast<int64_t>(status.st_ino),
          static_cast<int64_t>(status.st_size),
          static_cast<int64_t>(status.st_mtim.tv_sec),
          static_cast<int64_t>(status.st_mtim.tv_nsec),
          static_cast<int64_t>(status.st_ctim.tv_sec),
          static_cast<int64_t>(status.st_ctim.tv_nsec)};
}

absl::Status TenantFile::Read(absl::Time now) {
  // Look() comes first: whatever is written from now on is another change.
  seen_ = Look();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
  ASSIGN_OR_RETURN(std::vector<TenantSettings> settings,
                   ParseTenants(path_, text));
  log_.Write(LogLevel::kInfo, "tenants",
             {{"file", path_}, {"tenants", settings.size()}});
  tenants_.Set(std::move(settings), now);
  return absl::OkStatus();
}

void TenantFile::Reload(absl::Time now) {
  const absl::Status status = Read(now);
  if (status.ok()) return;
  log_.Write(
      LogLevel::kError, "tenants_failed",
      {{"error", status.message()}, {"kept", "the tenants it had before"}});
}

void TenantFile::ReloadIfChanged(absl::Time now) {
  if (Look() != seen_) Reload(now);
}

}  // namespace attend
