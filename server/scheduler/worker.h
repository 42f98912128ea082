#ifndef ATTEND_SERVER_SCHEDULER_WORKER_H_
#define ATTEND_SERVER_SCHEDULER_WORKER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/scheduler/batcher.h"
#include "server/scheduler/request_queue.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/step_cost.h"

namespace attend {

// What one worker thread has at hand: its memory in the engine, the requests
// that wait and those that run, and the parts of the scheduler's loop. Made,
// used and destroyed on that thread. Owns a request from the queue's Take() to
// its end, so that sequences are destroyed here, before the context.
class Worker {
 public:
  // All must outlive the worker.
  Worker(const SchedulerOptions& options, const Engine& engine,
         const Clock& clock, RequestQueue& queue);

  const EngineContext& context() const { return *context_; }
  bool busy() const { return !running_.empty() || !waiting_.empty(); }

  // The parts of a step, in order.
  // Takes what arrived, and ends what is cancelled, late, drained or done.
  void Sweep();
  // Decides the next step and moves requests between waiting and running.
  void Plan();
  // Computes it.
  void Step();
  // Hands over what is new and ends what is finished or failed.
  void Deliver();

  // What the last step was.
  StepReport Report() const;

  // Ends everything, arrivals too. False if there was nothing.
  bool EndAll(const absl::Status& status);

 private:
  // A request and what the worker keeps of it.
  struct Entry {
    std::unique_ptr<Request> request;
    int64_t order = 0;  // of arrival
    Work work;          // sequence->Next(), asked once a step
    int room = 0;       // see RequestView
    int64_t last_piece = 0;
    size_t delivered = 0;        // size of the output that the listener knows
    Phase piece = Phase::kDone;  // phase of its piece in this step, or kDone
  };

  RequestView View(const Entry& entry, bool with_blocks) const;
  void StartPiece(Entry& entry, int rows, absl::Time now);
  void DeliverTo(Entry& entry, absl::Time now);
  // OK: it may go on.
  absl::Status Verdict(const Entry& entry, bool draining, absl::Time now) const;
  // The last call to the listener; destroys the request.
  void End(Entry& entry, const absl::Status& status, absl::Time now);

  const Engine& engine_;
  const Clock& clock_;
  RequestQueue& queue_;
  const std::unique_ptr<EngineContext> context_;
  Batcher batcher_;
  StepCost cost_;

  std::vector<Entry> waiting_;
  std::vector<Entry> running_;
  int64_t arrived_ = 0;  // requests so far
  int64_t pieces_ = 0;   // planned so far

  // The step under way; kept for their memory.
  StepPlan plan_;
  int decode_rows_ = 0;
  int prompt_rows_ = 0;
  StepCounts counts_before_;  // the step
  absl::Status step_status_;
  absl::Duration step_duration_;
  std::vector<std::unique_ptr<Request>> arrivals_;
  std::vector<RequestView> waiting_views_;
  std::vector<RequestView> running_views_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_WORKER_H_
