#include "server/scheduler/scheduler.h"

#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/thread_name.h"
#include "server/scheduler/request_queue.h"
#include "server/scheduler/step_health.h"
#include "server/scheduler/turns.h"
#include "server/scheduler/worker.h"

namespace attend {
namespace {

absl::Status CheckPositive(const char* name, int value) {
  if (value >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d, must be at least 1", name, value));
}

}  // namespace

absl::Status SchedulerOptions::Validate() const {
  RETURN_IF_ERROR(CheckPositive("max_queued_requests", max_queued_requests));
  RETURN_IF_ERROR(CheckPositive("max_queued_tokens", max_queued_tokens));
  RETURN_IF_ERROR(CheckPositive("max_batch_tokens", max_batch_tokens));
  RETURN_IF_ERROR(CheckPositive("max_running", max_running));
  if (aging <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "aging is %s, must be more than 0", absl::FormatDuration(aging)));
  }
  return absl::OkStatus();
}

struct Scheduler::Impl {
  Impl(const SchedulerOptions& options_in, const Engine& engine_in,
       const Clock& clock_in, Turns& turns_in, StepObserver observer_in)
      : options(options_in),
        engine(engine_in),
        clock(clock_in),
        observer(std::move(observer_in)),
        queue(options.max_queued_requests, options.max_queued_tokens,
              options.max_running),
        worker(options, engine, clock, queue),
        turn(turns_in, worker.max_claims()) {
    if (observer) observer(worker.Report());
  }

  void RunWorker();
  void TakeStep();
  void Report() const;
  absl::Status CheckFits(const Sequence& sequence) const;

  const SchedulerOptions options;
  const Engine& engine;
  const Clock& clock;
  const StepObserver observer;
  RequestQueue queue;
  Worker worker;  // made by whoever makes the scheduler, then the thread's
  const int total_blocks = worker.context().total_blocks();
  const int total_encode_rows = worker.context().total_encode_rows();
  StepHealth health;
  Turns::Place turn;  // the thread's
  std::thread thread;
};

void Scheduler::Impl::RunWorker() {
  NameThread("worker");
  while (queue.WaitForWork(worker.busy())) {
    TakeStep();
    if (worker.busy()) worker.Deliver();
    if (!worker.busy()) turn.Pass();
    Report();
  }
  turn.Pass();
  if (worker.EndAll(absl::UnavailableError("server is draining"))) Report();
}

// Without memory for it, metrics miss a step.
void Scheduler::Impl::Report() const {
  CatchOutOfMemory([this] {
    if (observer) observer(worker.Report());
    return absl::OkStatus();
  }).IgnoreError();
}

void Scheduler::Impl::TakeStep() {
  worker.Sweep();
  if (!worker.busy()) return;
  if (turn.Take(worker.Claims())) {
    worker.Sweep();
    if (!worker.busy()) return;
  }
  worker.Plan();
  worker.Step();
  turn.EndStep(worker.work_seconds());
  health.OnStep(worker.step_status().ok(), clock.Now());
}

// A request that does not fit when it is alone would wait for ever.
absl::Status Scheduler::Impl::CheckFits(const Sequence& sequence) const {
  if (sequence.max_blocks() > total_blocks) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "request needs up to %d blocks of the KV pool, limit is %d "
        "(kv_cache_bytes): shorten the request or ask for fewer beams",
        sequence.max_blocks(), total_blocks));
  }
  const int encode_rows = sequence.Next().encode_rows;
  if (encode_rows > total_encode_rows) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "source needs %d rows of the encode buffer, limit is %d", encode_rows,
        total_encode_rows));
  }
  return absl::OkStatus();
}

Scheduler::Scheduler(const SchedulerOptions& options, const Engine& engine,
                     const Clock& clock, Turns& turns, StepObserver observer)
    : impl_(std::make_unique<Impl>(options, engine, clock, turns,
                                   std::move(observer))) {
  ATTEND_CHECK(options.Validate().ok());
  impl_->thread = std::thread([this] { impl_->RunWorker(); });
}

Scheduler::~Scheduler() {
  impl_->queue.Close();
  impl_->thread.join();
}

absl::Status Scheduler::Submit(std::unique_ptr<Request>& request) {
  ATTEND_CHECK(request != nullptr && request->sequence != nullptr &&
               request->listener != nullptr);
  RETURN_IF_ERROR(impl_->CheckFits(*request->sequence));
  return impl_->queue.Push(request, impl_->clock.Now());
}

bool Scheduler::failing() const {
  return impl_->health.failing(impl_->clock.Now());
}

bool Scheduler::WaitUntilIdle(absl::Duration timeout) {
  return impl_->queue.WaitUntilEmpty(timeout);
}

}  // namespace attend
