#ifndef ATTEND_SERVER_TENANTS_TENANT_SETTINGS_H_
#define ATTEND_SERVER_TENANTS_TENANT_SETTINGS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/scheduler/request.h"
#include "server/tenants/key_hash.h"
#include "server/tenants/rate_bucket.h"

namespace attend {

// The settings of one tenant in the file. docs/security.md describes the
// fields.
struct TenantSettings {
  std::string name;
  std::vector<KeyHash> keys;
  std::vector<std::string> certificates;  // names in those of its clients
  int weight = 1;
  std::optional<RateLimit> calls;   // none: no limit
  std::optional<RateLimit> tokens;  // none: no limit
  // Limits of inputs that wait, and that run, in each model.
  int max_queued_inputs = Tenant::kNoLimit;
  int max_running_inputs = Tenant::kNoLimit;
  std::optional<std::vector<std::string>> models;  // none: all
  int max_priority = kMaxPriority;
  bool administrator = false;  // may make the calls of attend.v1.Admin
};

// Bounds of a file of tenants, so that a search for a key takes microseconds,
// and each file makes a bounded number of series in the metrics.
inline constexpr size_t kMaxTenantFileBytes = 1 << 20;
inline constexpr size_t kMaxTenants = 1000;
inline constexpr size_t kMaxKeysOfTenant = 16;
inline constexpr size_t kMaxKeys = 4096;  // for all tenants
inline constexpr size_t kMaxCertificatesOfTenant = 16;
inline constexpr size_t kMaxCertificateNameBytes = 2048;

// Reads the text of a file of tenants; `name` stands for the file.
// INVALID_ARGUMENT names the file, the tenant, the field, its value and what
// was expected. An error never shows the contents of `keys`: somebody may have
// put a key there in place of a hash.
absl::StatusOr<std::vector<TenantSettings>> ParseTenants(
    const std::string& name, absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_TENANT_SETTINGS_H_
