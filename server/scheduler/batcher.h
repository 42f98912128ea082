#ifndef ATTEND_SERVER_SCHEDULER_BATCHER_H_
#define ATTEND_SERVER_SCHEDULER_BATCHER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "server/scheduler/step_cost.h"

namespace attend {

struct BatcherOptions {
  // Rows a step computes at most.
  int max_rows = 1024;
  // Sequences that run at once.
  int max_running = 256;
  // Sequences for which scratch memory is made beforehand.
  int max_waiting = 1024;
  // Waiting this long raises a request by one priority level.
  absl::Duration aging = absl::Seconds(1);
  // While others decode, a step may always carry this many rows of encodes, of
  // which each piece reads the encoder's weights, or of prompts, which share
  // the matmuls of those that decode. Higher: earlier first tokens, less even
  // streams.
  int min_encode_piece = 32;
  int min_prompt_piece = 1;
  // While others decode, an encode waits for company until it has this many
  // rows. Higher: more throughput, later first tokens.
  int min_encode_rows = 64;
};

// What the batcher knows of a request.
struct RequestView {
  int64_t order = 0;  // of arrival; unique
  int priority = 0;   // higher is served first
  absl::Time arrival;
  Work work;
  // Blocks it held and wanted when it was last preempted; 0: never was.
  // Admitted again only when there is room for so much.
  int room = 0;
  int held_blocks = 0;     // running ones; needed when memory is short, or
                           // if `room` is set
  int64_t last_piece = 0;  // running ones: its last piece, counting all pieces
};

struct MemoryView {
  int free_blocks = 0;
  int free_encode_rows = 0;
};

// Who computes what in the next step. Indices are into the views.
struct Decision {
  struct Rows {
    int index = 0;
    int rows = 0;
  };
  std::vector<Rows> running;   // pieces of running sequences
  std::vector<Rows> admitted;  // first pieces of waiting ones
  std::vector<int> preempted;  // running ones that give their memory back
  int decode_rows = 0;
  int prompt_rows = 0;  // encode rows too
};

// The policy: a pure function of its arguments, time included.
//
// Order is (level, arrival), where level is the priority plus one for each
// `aging` waited; so every request is first in the end.
// 1. Memory: if what all running sequences take next does not fit, whole
//    sequences are preempted, last in order first, never the oldest. Nobody is
//    admitted in such a step.
// 2. Decode rows of all running sequences; if they exceed max_rows, those which
//    waited longest for a step.
// 3. Encode and prompt rows, those of newcomers too. While others decode, only
//    so many that the step takes about twice a quiet one, and none in the few
//    steps that show how long that is (StepCost::WantsQuietStep). In order:
//    what fits into a step is taken whole, since pieces of sources that stand
//    at different layers share no matmul; what does not gets a share, and then
//    the rest. So a short input passes a long one that is being encoded, and
//    the long one still moves in each step. The last one taken may be cut, if
//    half of it fits.
// A newcomer is admitted if it gets rows, its memory fits, and there is room
// for the running ones' next steps. One that does not fit may be overtaken
// until it has waited for `aging` (if it was preempted: not at all).
//
// While many decode, sources that are to be encoded are held until they are
// enough for the matmuls to run at full rate (min_encode_rows), or have waited
// long enough: together as long as the decoding ones, together, would be held
// up by reading the encoder's weights for them alone. That balances the delay
// of both, and what an idle place costs against what a joint encode saves.
// Nobody is held for longer than a few steps.
//
// Guarantees: sums of rows, blocks and encode rows stay within their limits
// (a single decode piece of more than max_rows runs alone); each call plans
// at least one piece if there is anything to do, given that every request fits
// the memory alone.
//
// Holds scratch memory only, so that steps do not allocate; one user at a time.
class Batcher {
 public:
  explicit Batcher(const BatcherOptions& options);

  // The result is valid until the next call.
  const Decision& Plan(absl::Span<const RequestView> waiting,
                       absl::Span<const RequestView> running,
                       const MemoryView& memory, const StepCost& cost,
                       absl::Time now);

 private:
  struct Candidate {
    int64_t level = 0;
    int64_t order = 0;
    int index = 0;
    bool waits = false;
    int rows = 0;  // given so far

    bool operator<(const Candidate& other) const {  // comes after it
      return level != other.level ? level < other.level : order > other.order;
    }
  };

  int64_t Level(const RequestView& view, absl::Time now) const;
  // The three parts, in this order; each fills its part of decision_.
  void Preempt(absl::Span<const RequestView> running, int free_blocks,
               absl::Time now);
  void PlanDecodes(absl::Span<const RequestView> running);
  void CollectCandidates(absl::Span<const RequestView> waiting,
                         absl::Span<const RequestView> running, bool hold,
                         absl::Time now);
  // The rows that a candidate gets out of `left`, or 0.
  static int RowsFor(const RequestView& view, bool waits, int left, int budget);
  // True if newcomers that want an encode are to wait for company.
  bool HoldsEncodes(absl::Span<const RequestView> waiting,
                    absl::Span<const RequestView> running, int budget,
                    const StepCost& cost, absl::Time now) const;
  // Encode and prompt rows of a step in which others decode.
  int RowsBesideDecodes(absl::Span<const RequestView> waiting,
                        absl::Span<const RequestView> running,
                        const StepCost& cost) const;
  void PlanPrompts(absl::Span<const RequestView> waiting,
                   absl::Span<const RequestView> running,
                   const MemoryView& memory, const StepCost& cost,
                   absl::Time now);
  bool IsPreempted(int index) const { return gone_[index]; }

  const BatcherOptions options_;
  const int64_t aging_microseconds_;
  Decision decision_;
  std::vector<Candidate> candidates_;
  std::vector<Candidate> chosen_;  // they get rows
  std::vector<char> gone_;         // [running]: preempted in this step
  std::vector<int> decodes_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_BATCHER_H_
