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

// All tenants, found by what proves who calls. Thread-safe.
class Tenants {
 public:
  // None at first. `metrics` must outlive this, and the accounts.
  explicit Tenants(Metrics& metrics);

  // From now on there are these, as ParseTenants() gives them. Those whose
  // names were there before go on with what they have left.
  void Set(std::vector<TenantSettings> settings, absl::Time now);

  // The tenant of a call with the metadata `authorization`, which is
  // "Bearer KEY". UNAUTHENTICATED if there is no key (empty) or nobody's. Looks
  // at all keys, in a time that does not depend on the one that it gets.
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
