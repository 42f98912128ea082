#ifndef ATTEND_SERVER_TENANTS_TENANT_ACCOUNT_H_
#define ATTEND_SERVER_TENANTS_TENANT_ACCOUNT_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/observability/tenant_metrics.h"
#include "server/scheduler/request.h"
#include "server/tenants/tenant_settings.h"

namespace attend {

// A tenant as its calls know it: what it may do, how much it has left, and what
// is counted of it. A call has the same account from its begin to its end,
// whatever the file says meanwhile. Thread-safe; nothing waits.
class TenantAccount {
 public:
  // Of all calls, where there are no tenants: limits and counts nothing.
  static const std::shared_ptr<TenantAccount>& OfEverybody();

  // `before`: the account of the same name in the file before this one, or
  // null. The new one goes on with what that has left, and owes. `metrics`
  // outlive all accounts.
  TenantAccount(TenantSettings settings, const TenantAccount* before,
                TenantMetrics& metrics, absl::Time now);

  const std::string& name() const { return settings_.name; }
  // As the scheduler knows it. The id is the same in each file.
  const Tenant& tenant() const { return tenant_; }
  bool MayUse(absl::string_view model) const;
  // A higher priority counts as this one.
  int max_priority() const { return settings_.max_priority; }

  // A call comes. RESOURCE_EXHAUSTED with kRetryAfterUrl if there were more
  // than calls_per_second.
  absl::Status BeginCall(absl::Time now);
  // It wants to use the model. PERMISSION_DENIED if it may not.
  absl::Status CheckModel(absl::string_view model);
  // It has inputs to compute. RESOURCE_EXHAUSTED with kRetryAfterUrl if there
  // were more than tokens_per_second. How many tokens these will be nobody
  // knows yet: whoever comes later waits for them.
  absl::Status BeginInputs(absl::Time now);
  // Tokens of a source that was queued; tokens that have been generated.
  void OnSource(int tokens, absl::Time now);
  void OnGenerated(int tokens, absl::Time now);
  // An input was refused because max_queued_inputs wait.
  void OnInputRefused();
  // A call has ended.
  void OnCall(absl::StatusCode code);

 private:
  struct Usage;
  TenantAccount();

  absl::Status Refuse(TenantRefusal reason, absl::string_view what,
                      const RateLimit& limit, absl::Duration wait);

  const TenantSettings settings_;
  const Tenant tenant_;
  const std::shared_ptr<Usage> usage_;  // null: of everybody
};

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_TENANT_ACCOUNT_H_
