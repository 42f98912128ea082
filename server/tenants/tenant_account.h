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

// A tenant as its calls see it: what the tenant may do, how much of its rates
// is left, and its metrics. A call keeps its account from begin to end, even if
// the file of tenants changes meanwhile. Thread-safe. No function waits.
class TenantAccount {
 public:
  // The account of all calls where there is no file of tenants. It limits
  // nothing and counts nothing.
  static const std::shared_ptr<TenantAccount>& OfEverybody();

  // `before`: the account of the same name in the file before this one, or
  // null. The new account inherits its remaining tokens and debts.
  TenantAccount(TenantSettings settings, const TenantAccount* before,
                std::shared_ptr<TenantMetrics> metrics, absl::Time now);

  const std::string& name() const { return settings_.name; }
  // The tenant as the scheduler knows it. A name has the same id in each
  // version of the file.
  const Tenant& tenant() const { return tenant_; }
  // Access to a model includes its versions, as named by ParseVersionName().
  bool MayUse(absl::string_view model) const;
  // True if the tenant may make the calls of attend.v1.Admin.
  bool administrator() const { return settings_.administrator; }
  // A request with a higher priority gets this priority.
  int max_priority() const { return settings_.max_priority; }

  // To be called when a call comes. RESOURCE_EXHAUSTED, with the payload
  // kRetryAfterUrl, if there were more than calls_per_second.
  absl::Status BeginCall(absl::Time now);
  // To be called when a call names a model. PERMISSION_DENIED if the tenant may
  // not use the model.
  absl::Status CheckModel(absl::string_view model);
  // To be called when a call has inputs to compute. RESOURCE_EXHAUSTED, with
  // the payload kRetryAfterUrl, if there were more than tokens_per_second. The
  // number of tokens of these inputs is not known yet: later calls wait for
  // them.
  absl::Status BeginInputs(absl::Time now);
  // OnSource(): a source of `tokens` tokens was queued. OnGenerated(): `tokens`
  // tokens were generated.
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
