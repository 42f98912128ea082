#include "server/tenants/tenant_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/json/read_file.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/tenants/tenant_settings.h"

namespace attend {
namespace {

constexpr int kMaxWarnings = 20;
constexpr size_t kMaxListedModels = 20;

// "a,b,...".
std::string ListModels(const std::vector<std::string>& models) {
  const bool all = models.size() <= kMaxListedModels;
  const auto end = all ? models.end() : models.begin() + kMaxListedModels;
  return absl::StrCat(absl::StrJoin(models.begin(), end, ","),
                      all ? "" : ",...");
}

}  // namespace

absl::StatusOr<std::unique_ptr<TenantFile>> TenantFile::Open(
    const std::string& path, TenantReferences references, Metrics& metrics,
    Log& log, absl::Time now) {
  std::unique_ptr<TenantFile> file(
      new TenantFile(path, std::move(references), metrics, log));
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
  WarnOfUnknown(settings);
  tenants_.Set(std::move(settings), now);
  return absl::OkStatus();
}

void TenantFile::WarnOfUnknown(const std::vector<TenantSettings>& tenants) {
  int warnings = 0;
  const auto warn = [&](const TenantSettings& tenant, absl::string_view what,
                        absl::string_view which) {
    if (++warnings > kMaxWarnings) return;
    log_.Write(LogLevel::kWarning, "tenants",
               {{"tenant", tenant.name},
                {"warning", what},
                {"name", which},
                {"models", ListModels(references_.models)},
                {"file", path_}});
  };
  const std::vector<std::string>& known = references_.models;
  for (const TenantSettings& tenant : tenants) {
    if (!tenant.certificates.empty() && !references_.client_certificates) {
      warn(tenant, "no --tls-client-ca, so certificates count for nothing",
           tenant.certificates.front());
    }
    if (!tenant.models.has_value()) continue;
    for (const std::string& model : *tenant.models) {
      if (std::find(known.begin(), known.end(), model) != known.end()) continue;
      warn(tenant, "there is no such model", model);
    }
  }
  if (warnings <= kMaxWarnings) return;
  log_.Write(LogLevel::kWarning, "tenants",
             {{"file", path_}, {"more_warnings", warnings - kMaxWarnings}});
}

void TenantFile::Reload(absl::Time now) {
  const absl::Status status = CatchOutOfMemory([&] { return Read(now); });
  if (status.ok()) return;
  log_.Write(
      LogLevel::kError, "tenants_failed",
      {{"error", status.message()}, {"kept", "the tenants it had before"}});
}

void TenantFile::ReloadIfChanged(absl::Time now) {
  if (Look() != seen_) Reload(now);
}

}  // namespace attend
