#ifndef ATTEND_SERVER_SCHEDULER_PARTICIPANTS_H_
#define ATTEND_SERVER_SCHEDULER_PARTICIPANTS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/views.h"

namespace attend {

// What tenants want of the next step, and which tenants take part in it: those
// to which a step of their own is owed, or all tenants.
class Participants {
 public:
  void Reserve(int tenants);

  // The spans must live as long as the plan.
  void Count(absl::Span<const RequestView> waiting,
             absl::Span<const RequestView> running,
             absl::Span<const TenantView> tenants);
  void Choose(const StepCost& cost, int max_rows);
  void ChooseAll();

  // True if no tenant is left out.
  bool all() const { return all_; }
  bool Has(const RequestView& view) const { return chosen_[view.tenant]; }
  // The decode rows of all tenants that take part.
  int decode_rows() const;
  // The first waiting request of a tenant that takes part and may begin one
  // more request. Among such tenants the one that was served least is chosen;
  // of tenants that were served alike, the one with fewer running requests,
  // then the one whose waiting request came first. Null if there is no such
  // request.
  const RequestView* FirstNewcomer(absl::Time now,
                                   int64_t aging_microseconds) const;
  // True if one more request of its tenant may run.
  bool HasPlace(const RequestView& view) const {
    return running_[view.tenant] + admitted_[view.tenant] <
           tenants_[view.tenant].max_running;
  }
  // Notes that the step begins this waiting request.
  void Admit(const RequestView& view) { ++admitted_[view.tenant]; }
  // Forgets all Admit(): the step is planned anew.
  void ForgetAdmitted();

  // Tenants that have requests, and the sum of their weights.
  int present() const { return present_; }
  int total_weight() const { return total_weight_; }
  // The number of running requests, [tenant].
  absl::Span<const int> running() const { return running_; }

 private:
  struct Wants {
    int waiting = 0;    // requests that may begin
    int64_t order = 0;  // of the one of them that came first
    int decode_rows = 0;
    int prompt_rows = 0;
  };

  // The tenant of FirstNewcomer(); -1: there is none.
  int Next() const;
  // True if of two that wait the first one is next.
  bool IsBefore(int tenant, int other) const;

  absl::Span<const RequestView> waiting_;
  absl::Span<const TenantView> tenants_;
  bool all_ = true;
  int present_ = 0;
  int total_weight_ = 0;
  std::vector<Wants> wants_;   // [tenant]
  std::vector<int> running_;   // [tenant]
  std::vector<int> admitted_;  // [tenant]
  std::vector<char> chosen_;   // [tenant]
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_PARTICIPANTS_H_
