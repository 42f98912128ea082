#ifndef ATTEND_SERVER_SCHEDULER_SCHEDULER_H_
#define ATTEND_SERVER_SCHEDULER_SCHEDULER_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/scheduler/request.h"
#include "server/scheduler/turns.h"

namespace attend {

// Time as the scheduler sees it; a fake in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

struct SchedulerOptions {
  // Requests (inputs) that wait. More: longer queues instead of refusals.
  int max_queued_requests = 1024;
  // Source tokens that wait, over all queued requests.
  int max_queued_tokens = 262144;
  // Rows computed in one step, at most the engine's max_step_rows. Higher: more
  // throughput, later first token. A single request with more beams than this
  // runs nevertheless.
  int max_batch_tokens = 1024;
  // Sequences that run at once.
  int max_running = 256;
  // Waiting this long raises a request by one priority level.
  absl::Duration aging = absl::Seconds(1);
  absl::Status Validate() const;
};

// What a step was, for metrics.
struct StepReport {
  int rows = 0;  // 0: there was no step, only the rest has changed
  int preempted = 0;
  // Of the prefix cache, in this step; see StepCounts.
  int64_t queried_tokens = 0;
  int64_t hit_tokens = 0;
  absl::Duration duration;
  int queued_requests = 0;
  int queued_tokens = 0;
  int running = 0;
  int used_blocks = 0;
  int total_blocks = 0;
};

// Owns the queue and the worker of one model: plan, step, deliver. Knows
// nothing of RPCs. Thread-safe.
//
// Workers of several models take turns, a step each. The step is planned when
// the turn has come, so that what arrived while others computed takes part.
class Scheduler {
 public:
  // Called by the worker when it has its memory, after each step, and when the
  // last requests have gone without one; then all listeners have been called.
  // Must not block.
  using StepObserver = std::function<void(const StepReport&)>;

  // `engine`, `clock` and `turns`, which engines on one Compute share, must
  // outlive the scheduler. Valid options only. Returns when the worker has its
  // memory.
  Scheduler(const SchedulerOptions& options, const Engine& engine,
            const Clock& clock, Turns& turns, StepObserver observer);
  // Ends what is left with UNAVAILABLE, after the step that is under way.
  ~Scheduler();

  // Consumes the request iff it returns OK. RESOURCE_EXHAUSTED when the queue
  // is full, with the payload kRetryAfterUrl; UNAVAILABLE when draining;
  // INVALID_ARGUMENT if the request alone exceeds the memory of a worker.
  absl::Status Submit(std::unique_ptr<Request>& request);

  // From now on new and queued requests end with UNAVAILABLE; what runs goes
  // on. Returns at once.
  void Drain();
  // True when nothing runs any more; false if `timeout` passed first.
  bool WaitUntilIdle(absl::Duration timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_SCHEDULER_H_
