#ifndef ATTEND_SERVER_TENANTS_TENANTS_H_
#define ATTEND_SERVER_TENANTS_TENANTS_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/observability/metrics.h"
#include "server/tenants/tenant_account.h"
#include "server/tenants/tenant_settings.h"

namespace attend {

// The credentials of a caller.
struct CallerProof {
  // The metadata of that name, "Bearer KEY"; empty if there are several. None:
  // the call has none.
  std::optional<absl::string_view> authorization = std::nullopt;
  // In the certificate of the client, which was checked: its subject
  // alternative names (DNS, URI, email), or without those its common name.
  std::vector<std::string> certificate_names = {};
};

// All tenants, found by what proves who calls. Thread-safe.
class Tenants {
 public:
  // Has no tenants at first. `metrics` must outlive the Tenants and their
  // accounts.
  explicit Tenants(Metrics& metrics);

  // Replaces the tenants by those of `settings`, which come from
  // ParseTenants(). A tenant whose name was there before keeps what is left of
  // its rates.
  void Set(std::vector<TenantSettings> settings, absl::Time now);

  // The tenant of a call. Where there is `authorization`, it alone counts:
  // UNAUTHENTICATED if it is no key or nobody's, whatever the certificate says.
  // Without, UNAUTHENTICATED unless the names in the certificate are of one
  // tenant. Names are compared byte by byte; unknown names are ignored if
  // others match.
  absl::StatusOr<std::shared_ptr<TenantAccount>> Find(
      const CallerProof& proof) const;

 private:
  struct Table;
  using Found = absl::StatusOr<std::shared_ptr<TenantAccount>>;

  // Looks at all keys, in a time that does not depend on the one that it gets.
  static Found FindByKey(const Table& table, absl::string_view authorization);
  static Found FindByCertificate(const Table& table,
                                 const std::vector<std::string>& names);
  std::shared_ptr<const Table> table() const;

  Metrics& metrics_;
  mutable Mutex mutex_;
  // The table itself is constant.
  std::shared_ptr<const Table> table_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_TENANTS_H_
