#ifndef ATTEND_SERVER_SCHEDULER_PREEMPTION_H_
#define ATTEND_SERVER_SCHEDULER_PREEMPTION_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/admission.h"
#include "server/scheduler/participants.h"
#include "server/scheduler/views.h"

namespace attend {

// Chooses which running requests give their memory back: of the tenant that
// holds most for its weight, the last request in the order (level, arrival).
// The oldest request of all is never chosen, so there is always a request that
// comes to its end.
class Preemption {
 public:
  void Reserve(int max_running, int tenants);

  // Begins a plan in which no request is preempted yet. The spans must live as
  // long as the plan.
  void Begin(absl::Span<const RequestView> running,
             absl::Span<const TenantView> tenants, absl::Time now,
             int64_t aging_microseconds);

  // Preempts requests until the next work of all tenants that take part fits.
  // One request alone always fits.
  void ForMemory(const Participants& participants, int free_blocks);

  // Preempts requests so that a newcomer fits, and returns true. Returns false,
  // and preempts no request, if that is impossible: a tenant loses only what it
  // holds beyond its share, and a newcomer that wants more than the share of
  // its own tenant has to wait.
  bool ForNewcomer(const RequestView& newcomer, const MemoryView& memory,
                   int max_running, int total_weight);

  // The chosen requests, in the order in which they were chosen.
  const std::vector<int>& chosen() const { return chosen_; }
  // A mark for each running request.
  const std::vector<char>& gone() const { return gone_; }

 private:
  // all / weights for each weight, without division.
  struct Share {
    bool Covers(int64_t held, int weight) const;

    int64_t all;
    int64_t weights;
  };
  // Whoever holds nothing holds more.
  static constexpr Share kNothing = {.all = -1, .weights = 1};

  // The next victim, of a tenant that holds more than its `share` of a
  // resource; only such as hold some of it if `holding`. -1: there is none.
  int Victim(int Room::*resource, const Share& share, bool holding) const;
  void Choose(int victim);
  // The last chosen one stays.
  void TakeBack();
  // True if of two that may go the first one goes.
  bool GoesBefore(int victim, int other, int Room::*resource) const;

  absl::Span<const RequestView> running_;
  absl::Span<const TenantView> tenants_;
  absl::Time now_;
  int64_t aging_microseconds_ = 1;
  int oldest_ = -1;
  std::vector<int> chosen_;
  std::vector<char> gone_;
  std::vector<Room> held_;  // [tenant]: by those that stay
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_PREEMPTION_H_
