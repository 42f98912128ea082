#ifndef ATTEND_SERVER_SCHEDULER_TENANT_LEDGER_H_
#define ATTEND_SERVER_SCHEDULER_TENANT_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/request.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/turn_shares.h"
#include "server/scheduler/views.h"

namespace attend {

// What each tenant has had of a model, in seconds. The ledger keeps two figures
// of each tenant (see TenantView). Both take the weights into account.
//
// * `served` decides which tenant's request is admitted next (virtual token
//   counters; Sheng et al., Fairness in Serving Large Language Models, 2024).
//   It is the tenant's share of the time of steps. The time of a step is
//   divided in proportion to what the rows of each tenant add to the step. When
//   a tenant comes to the queue again, its figure is raised to the least figure
//   of the tenants that wait there: being idle earns nothing.
// * `owed` decides which tenants get steps without the others. A joint step
//   takes as long as its largest part. After a joint step every other tenant
//   may catch up with the tenant that got the largest share, in steps that
//   leave out the tenants to which nothing is owed. The rows that a tenant had
//   in the joint step count as the time that they would have taken alone. What
//   a tenant has not caught up with before the next joint step is forgotten.
//   Thus a tenant keeps at least a fraction of the speed that it would have
//   alone: its weight divided by the sum of all weights. The reason: the shares
//   of a step add up to the time of the step, and the rows of a tenant take at
//   least their share when they are alone. A tenant whose steps are long gets a
//   joint step again after a while.
//
// A tenant without requests is kept while forgetting the tenant would be to its
// advantage. At most kMostAbsent such tenants are kept, and besides them those
// that stand in front of a tenant with requests, because indices do not change.
// When no tenant has requests, all are forgotten. Thus a client that comes
// under many names makes planning slower only as its requests do. Not
// thread-safe. Allocates memory at construction only.
class TenantLedger {
 public:
  // The most tenants without requests that are kept.
  static constexpr int kMostAbsent = 64;

  // `max_requests`: the most requests at once.
  explicit TenantLedger(int max_requests);

  // An index of a tenant is that of its entry in views(). Arrive(): a new
  // request of `tenant` waits; returns the index of the tenant. Return(): a
  // preempted request waits again.
  int Arrive(const Tenant& tenant);
  void Return(int tenant);
  // A waiting request begins to run.
  void Admit(int tenant);
  // A request has ended.
  void End(int tenant, bool was_waiting);

  // Notes a planned step, and then the rows that the step has of each tenant.
  // `joint`: the step leaves out no tenant that has requests.
  void BeginStep(bool joint);
  void AddRows(int tenant, int decode_rows, int prompt_rows);
  // So many of its prompt rows were not computed: they were found.
  void SpareRows(int tenant, int prompt_rows);
  // It has been computed.
  void EndStep(const StepCost& cost, absl::Duration duration);

  absl::Span<const TenantView> views() const { return views_; }
  // The number of tenants that have requests.
  int present() const { return present_; }
  // Appends them.
  void AddClaims(std::vector<TurnClaim>& claims) const;
  // Takes over how many models the tenants of AddClaims() have requests in. A
  // tenant that has some in several has a part of its weight in each.
  void SetModels(absl::Span<const TurnClaim> claims);

 private:
  struct Account {
    uint64_t id = 0;
    int waiting = 0;
    int running = 0;
    // Of the step:
    int decode_rows = 0;
    int prompt_rows = 0;
    // Seconds, as they would have been alone, since the beginning of the last
    // joint step.
    double used = 0;
    int64_t round = 0;  // the joint step that `used` is about
    int models = 1;     // in which the tenant has requests
  };

  // The rows of a step, and how many tenants they are of.
  struct StepRows {
    int decodes = 0;
    int prompts = 0;
    int tenants = 0;
  };
  // What a tenant's rows take, in times of the whole step: if they were alone
  // in it, and as their share of it, without the fixed time of a step.
  struct Parts {
    double alone = 0;
    double share = 0;
  };

  int absent() const { return static_cast<int>(accounts_.size()) - present_; }
  // Nobody is present: nobody is behind anybody.
  void Clear();
  // The account of a tenant, which may be new.
  int Find(uint64_t id);
  void Enqueue(int tenant);
  void LeaveQueue(int tenant);
  // What a tenant that comes to the queue counts as served at least.
  double Floor() const;
  double Used(const Account& account) const;
  // The tenant's weight in the time of this model.
  double WeightOf(size_t tenant) const {
    return 1.0 * views_[tenant].weight / accounts_[tenant].models;
  }
  StepRows SumRows() const;
  Parts PartsOf(const Account& account, const StepRows& all,
                const StepCost& cost) const;

  const size_t max_accounts_;
  std::vector<Account> accounts_;
  std::vector<TenantView> views_;  // of the accounts
  int present_ = 0;
  int waiting_ = 0;           // tenants
  double last_served_ = 0;    // the floor when nobody waits
  bool joint_ = true;         // the current step
  int64_t round_ = 0;         // joint steps so far
  double most_ = 0;           // share a weight that a tenant got of the last
  double seconds_since_ = 0;  // of steps since then
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_TENANT_LEDGER_H_
