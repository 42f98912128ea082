#ifndef ATTEND_SERVER_TENANTS_TENANTS_H_
#define ATTEND_SERVER_TENANTS_TENANTS_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/observability/metrics.h"
#include "server/tenants/tenant_account.h"
#include "server/tenants/tenant_settings.h"

namespace attend {

// All tenants of the file, and which key is whose. Thread-safe.
class Tenants {
 public:
  // Has no tenants at first. `metrics` must outlive the Tenants and their
  // accounts.
  explicit Tenants(Metrics& metrics);

  // Replaces the tenants by those of `settings`, which come from
  // ParseTenants(). A tenant whose name was there before keeps what is left of
  // its rates.
  void Set(std::vector<TenantSettings> settings, absl::Time now);

  // The tenant of a call whose metadata has this `authorization`: "Bearer KEY".
  // UNAUTHENTICATED if there is no key (`authorization` is empty), or if no
  // tenant has the key. Compares with the keys of all tenants, in a time that
  // does not depend on the key of the call.
  absl::StatusOr<std::shared_ptr<TenantAccount>> Find(
      absl::string_view authorization) const;

 private:
  struct Table;
  std::shared_ptr<const Table> table() const;

  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Table> table_;  // guarded by mutex_; what it is, is not
};

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_TENANTS_H_
