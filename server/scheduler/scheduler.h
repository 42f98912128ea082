#ifndef ATTEND_SERVER_SCHEDULER_SCHEDULER_H_
#define ATTEND_SERVER_SCHEDULER_SCHEDULER_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/scheduler/clock.h"
#include "server/scheduler/request.h"

namespace attend {

class Turns;

struct SchedulerOptions {
  // The most requests (inputs) that wait. Higher: longer queues instead of
  // refusals.
  int max_queued_requests = 1024;
  // The most source tokens that wait, over all queued requests.
  int max_queued_tokens = 262144;
  // The most rows of one step; at most the engine's max_step_rows. Higher: more
  // throughput, later first tokens. A single request with more beams than this
  // runs nevertheless.
  int max_batch_tokens = 1024;
  // The most sequences that run at once.
  int max_running = 256;
  // Waiting this long raises a request by one priority level.
  absl::Duration aging = absl::Seconds(1);
  absl::Status Validate() const;
};

// What metrics learn of a step.
struct StepReport {
  int rows = 0;  // 0: there was no step, only the numbers below have changed
  int preempted = 0;
  // Of the prefix cache, during this step; see StepCounts.
  int64_t queried_tokens = 0;
  int64_t hit_tokens = 0;
  int64_t draft_tokens = 0;
  int64_t accepted_draft_tokens = 0;
  int64_t model_draft_tokens = 0;  // of these, by a draft model
  int64_t accepted_model_draft_tokens = 0;
  absl::Duration duration;
  int queued_requests = 0;
  int queued_tokens = 0;
  int running = 0;
  int used_blocks = 0;
  int total_blocks = 0;
};

// Owns the queue and the worker of one model. The worker's loop is: plan, step,
// deliver. Knows nothing of RPCs. Thread-safe.
//
// The workers of several models take turns (see Turns). A step is planned when
// its turn has come, so requests that arrived during other models' steps take
// part in it.
class Scheduler {
 public:
  // Called at three occasions: when the worker's memory is ready, on the thread
  // that makes the scheduler; after each step, on the worker's thread; and when
  // the last requests have ended without a step, on the worker's thread. By
  // then all listeners have been called. Must not block.
  using StepObserver = std::function<void(const StepReport&)>;

  // `engine`, `clock` and `turns` must outlive the scheduler; engines on one
  // Compute share one `turns`. The options must be valid. Takes the worker's
  // memory and starts its thread. If the system has no memory or no thread
  // left, the standard library throws std::bad_alloc or std::system_error.
  Scheduler(const SchedulerOptions& options, const Engine& engine,
            const Clock& clock, Turns& turns, StepObserver observer);
  // Lets the current step end, then ends all requests with UNAVAILABLE.
  ~Scheduler();

  // Consumes the request iff it returns OK. Errors:
  // * RESOURCE_EXHAUSTED if the queue is full, with the payload kRetryAfterUrl;
  // * UNAVAILABLE once the destructor has begun;
  // * INVALID_ARGUMENT if the request alone exceeds the memory of a worker.
  absl::Status Submit(std::unique_ptr<Request>& request);

  // True: the last steps failed, see StepHealth. Requests are taken all the
  // same.
  bool failing() const;

  // True when no request waits or runs any more; false if `timeout` passed
  // first.
  bool WaitUntilIdle(absl::Duration timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_SCHEDULER_H_
