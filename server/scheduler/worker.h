#ifndef ATTEND_SERVER_SCHEDULER_WORKER_H_
#define ATTEND_SERVER_SCHEDULER_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "server/scheduler/batcher.h"
#include "server/scheduler/entry.h"
#include "server/scheduler/request_queue.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/tenant_ledger.h"
#include "server/scheduler/turn_shares.h"

namespace attend {

// The state of one worker thread: its memory in the engine, the waiting and the
// running requests, and the stages of the scheduler's loop. Used on that thread
// only, except for construction and destruction. Owns a request from
// RequestQueue::Take() to the request's end, so that all sequences are
// destroyed before the context.
class Worker {
 public:
  // All arguments must outlive the worker.
  Worker(const SchedulerOptions& options, const Engine& engine,
         const Clock& clock, RequestQueue& queue);

  const EngineContext& context() const { return *context_; }
  size_t max_claims() const { return claims_.capacity(); }
  bool busy() const { return !running_.empty() || !waiting_.empty(); }

  // The stages of a step, in order.
  // Takes the requests that have arrived, and ends requests that are cancelled,
  // late or done.
  void Sweep();
  // At most `max_claims()` tenants that have requests. Valid until the next
  // call. The caller fills in their models before Plan().
  absl::Span<TurnClaim> Claims();
  // Plans the next step, and moves requests between waiting and running.
  void Plan();
  // Computes the step.
  void Step();
  const absl::Status& step_status() const { return step_status_; }
  // See StepCost::WorkSeconds(); of the step.
  double work_seconds() const {
    return cost_.WorkSeconds(decode_rows_, prompt_rows_, step_duration_);
  }
  // Hands new output to the listeners, and ends finished and failed requests.
  void Deliver();

  // The numbers of the last step.
  StepReport Report() const;

  // Ends all requests, including those that have only arrived. Returns false if
  // there was none.
  bool EndAll(const absl::Status& status);

 private:
  // Fills the views that the batcher sees.
  void CollectViews();
  // What the plan means for a running request, and for a waiting one. The
  // request is moved to the other list.
  void Preempt(Entry& entry, absl::Time now);
  void Admit(Entry& entry, int rows, absl::Time now);
  void StartPiece(Entry& entry, int rows, absl::Time now);
  void DeliverTo(Entry& entry, absl::Time now);
  void EndRunning(Entry& entry, const absl::Status& status, absl::Time now);
  // The last call to the listener; destroys the request.
  void End(Entry& entry, const absl::Status& status, absl::Time now);

  const Clock& clock_;
  RequestQueue& queue_;
  const std::unique_ptr<EngineContext> context_;
  Batcher batcher_;
  StepCost cost_;
  TenantLedger tenants_;

  std::vector<Entry> waiting_;
  std::vector<Entry> running_;
  int64_t arrived_ = 0;  // requests so far
  int64_t pieces_ = 0;   // planned so far

  // The current step. The lists are kept for their memory.
  StepPlan plan_;
  int decode_rows_ = 0;
  int prompt_rows_ = 0;
  StepCounts counts_before_;  // before the current step
  absl::Status step_status_;
  absl::Duration step_duration_;
  std::vector<std::unique_ptr<Request>> arrivals_;
  std::vector<TurnClaim> claims_;
  std::vector<RequestView> waiting_views_;
  std::vector<RequestView> running_views_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_WORKER_H_
