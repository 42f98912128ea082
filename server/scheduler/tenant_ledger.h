#ifndef ATTEND_SERVER_SCHEDULER_TENANT_LEDGER_H_
#define ATTEND_SERVER_SCHEDULER_TENANT_LEDGER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/request.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/views.h"

namespace attend {

// What each tenant has had of a model, in seconds. Two accounts follow from
// that, both by weight.
//
// * `served` is its share of the time of steps, by what its rows add to them:
//   the time that a step takes without any rows is no tenant's own. It decides
//   who is admitted next (virtual token counters; Sheng et al., Fairness in
//   Serving Large Language Models, 2024). A tenant that comes to the queue
//   again is lifted to the least of those that wait there: being idle earns
//   nothing.
// * `owed` decides who goes on alone. A joint step, of all tenants, is as long
//   as its largest part. After it, every other tenant may catch up with the one
//   that got the largest share of it, in steps that leave out those to which
//   nothing is owed. What its part of the joint step would have taken alone
//   counts for that. What nobody catches up with before the next joint step is
//   forgotten.
//   So of its speed alone a tenant keeps at least the part that its weight is
//   of all weights: the shares of a step are its time, and no part takes less
//   alone. A tenant of large steps gets a joint step again after a while.
//
// Tenants without requests are kept as long as being forgotten would do them
// good, and they are few, but for those in front of one that has requests;
// nobody is kept when nobody has requests. So whoever comes under many names
// makes the steps of others no longer than requests make them. Not thread-safe;
// allocates only when made.
class TenantLedger {
 public:
  // The most tenants without requests that are kept.
  static constexpr int kMostAbsent = 64;

  // For at most so many requests at once.
  explicit TenantLedger(int max_requests);

  // Indices are those of views().
  // A request waits: a new one of `tenant`, or a preempted one.
  int Arrive(const Tenant& tenant);
  void Return(int tenant);
  // A waiting request runs.
  void Admit(int tenant);
  // A request has ended.
  void End(int tenant, bool was_waiting);

  // A step was planned with these rows of a tenant. `joint`: of all tenants
  // that are present.
  void BeginStep(bool joint);
  void AddRows(int tenant, int decode_rows, int prompt_rows);
  // It has been computed.
  void EndStep(const StepCost& cost, absl::Duration duration);

  absl::Span<const TenantView> views() const { return views_; }
  // Tenants that have requests.
  int present() const { return present_; }

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
