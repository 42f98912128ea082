#ifndef ATTEND_SERVER_SCHEDULER_BATCHER_H_
#define ATTEND_SERVER_SCHEDULER_BATCHER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/admission.h"
#include "server/scheduler/candidates.h"
#include "server/scheduler/decision.h"
#include "server/scheduler/participants.h"
#include "server/scheduler/preemption.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/views.h"

namespace attend {

struct BatcherOptions {
  // The most rows that one step computes.
  int max_rows = 1024;
  // The most sequences that run at once.
  int max_running = 256;
  // The number of waiting sequences for which scratch memory is reserved.
  int max_waiting = 1024;
  // Waiting this long raises a request by one priority level.
  absl::Duration aging = absl::Seconds(1);
  // While others decode, a step may always carry this many rows of encodes, or
  // of prompts. (The encode pieces of a step read the encoder's weights for
  // themselves; prompts share the matmuls of the decode rows.) Higher: earlier
  // first tokens, less even streams.
  int min_encode_piece = 32;
  int min_prompt_piece = 1;
  // While others decode, a step may always carry as many of these rows as make
  // it this long: at 200 tokens a second nobody sees a difference, and a small
  // model, whose quiet steps are far shorter, would take in newcomers so slowly
  // that few decode together. Higher: more throughput, less even streams.
  absl::Duration short_step = absl::Milliseconds(5);
  // While others decode, new encodes wait until together they have this many
  // rows. Higher: more throughput, later first tokens.
  int min_encode_rows = 64;
};

// The policy of the scheduler: a pure function of its arguments, time included.
//
// The requests of a tenant are ordered by (level, arrival). The level is the
// priority plus one for each `aging` that the request has waited, so every
// request becomes the first one in the end. Of several tenants, the tenant that
// was served least comes first. A step is planned in this order:
// 1. Tenants. If steps of their own are owed to some tenants, only these
//    tenants take part in the step. Otherwise all tenants take part.
// 2. Memory. If the next work of all running requests does not fit, whole
//    requests are preempted: requests of the tenant that holds most, the last
//    in order first, but never the oldest request of all. Such a step admits no
//    request. If the tenant that was served least has no running request,
//    requests of other tenants are preempted for its first request; those
//    tenants lose only what they hold beyond their share.
// 3. Decode rows of all running requests. If they exceed max_rows, the requests
//    that have waited longest for a step get rows.
// 4. Encode and prompt rows, of new requests too.
//    * While others decode, the number of these rows is limited so that the
//      step takes about twice as long as a quiet step, or `short_step` if that
//      is more. If nobody that runs has decoded before, the rows may take as
//      long as the last of those that decode has waited: streams stay even, and
//      their first tokens take at most about twice as long. Now and then a step
//      has none of these rows, to measure how long a quiet step takes
//      (StepCost::WantsQuietStep).
//    * Work that fits into a step is taken whole, because encodes that stand at
//      different layers share no matmul. Work that does not fit gets a share of
//      the rows, and later the rows that are left. Thus a short input passes a
//      long encode, and the long encode still advances in each step.
//    * The last work taken may be cut, if half of it fits; but no new source
//      that is a small part of the step. If all sources are whole, their hidden
//      states stay in place from layer to layer.
// A new request is admitted if it gets rows, its memory fits, its tenant may
// run one more, and there is room for the next steps of the running requests. A
// request that does not fit may be overtaken until it has waited for `aging`; a
// preempted request may not be overtaken at all. For a request that may not be
// overtaken room is kept (Admission::KeepRoomFor): no other request of its
// tenant is admitted, and requests of other tenants are admitted only if they
// leave that room.
//
// New encodes may be held back until several can be computed together: see
// encode_hold.h.
//
// Guarantees:
// * The sums of rows, blocks and encode rows stay within their limits.
//   Exception: a decode piece of more than max_rows runs, alone.
// * Each call plans at least one piece if there is anything to do, provided
//   that every request alone fits the memory.
//
// Holds scratch memory only, so that planning does not allocate. Not
// thread-safe.
class Batcher {
 public:
  explicit Batcher(const BatcherOptions& options);

  // The result is valid until the next call. `tenants`: the tenants of the
  // requests; empty: there is one tenant.
  const Decision& Plan(absl::Span<const RequestView> waiting,
                       absl::Span<const RequestView> running,
                       const MemoryView& memory, const StepCost& cost,
                       absl::Time now,
                       absl::Span<const TenantView> tenants = {});

 private:
  // The arguments of Plan().
  struct Situation {
    absl::Span<const RequestView> waiting;
    absl::Span<const RequestView> running;
    MemoryView memory;
    const StepCost* cost = nullptr;
    absl::Time now;
    absl::Span<const TenantView> tenants;
  };
  void PlanStep();
  // `may_favour`: others may be preempted for a newcomer.
  void PlanStep(bool may_favour);
  // The stages of PlanStep(), in this order. Each fills its lists of decision_.
  void Preempt(bool may_favour);
  void PreemptForNewcomer();
  void PlanDecodes();
  void PlanPrompts();

  void CollectCandidates(bool hold);
  // Fills chosen_; returns the rows that are left.
  int ChooseCandidates(int budget);
  // The rows that a candidate gets out of `left`, or 0.
  int RowsFor(const RequestView& view, bool is_waiting, int left,
              int budget) const;
  // Keeps room for a request: no other request of its tenant overtakes it, and
  // no request of another tenant that would be in its way.
  void KeepRoomFor(const RequestView& view, Admission& admission);
  // Encode and prompt rows of a step in which others decode.
  int RowsBesideDecodes() const;
  // How long the last of those that decode has waited; 0 if a request that runs
  // has decoded before.
  absl::Duration FirstDecodesWait() const;

  const RequestView& ViewOf(const Candidate& candidate) const {
    return (candidate.is_waiting ? in_.waiting : in_.running)[candidate.index];
  }
  bool IsPreempted(size_t index) const { return preemption_.gone()[index]; }

  const BatcherOptions options_;
  const int64_t aging_microseconds_;
  Situation in_;
  Decision decision_;
  Participants participants_;
  Preemption preemption_;
  bool admits_ = true;                     // this step
  const RequestView* favoured_ = nullptr;  // newcomer; see Admission
  int begun_ = 0;                          // candidates that run
  Candidates candidates_;
  std::vector<Candidate> chosen_;  // those that get rows
  std::vector<int> decodes_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_BATCHER_H_
