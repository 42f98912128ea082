#include "tests/server/scheduler/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/scheduler/request_queue.h"
#include "server/scheduler/worker.h"
#include "tests/server/scheduler/simulation_model.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using Kind = ScenarioEvent::Kind;

constexpr int kLearningSteps = 20;

class Simulation {
 public:
  Simulation(const Scenario& scenario, bool with_trace);
  SimulationResult Run();

 private:
  bool ok() const { return complaint_.empty(); }
  void Pass(int64_t micros);
  void HappenUntilNow();
  void Happen(const ScenarioEvent& event);
  void Arrive(const ScenarioEvent& event);
  void TakeStep();
  // Returns how long it took, by the clock.
  absl::Duration PlanAndCompute();
  // The step that was planned takes so long.
  void OnStep(int64_t micros);
  void CheckEnd();
  void Trace(const SimulatedStep& step);

  const Scenario& scenario_;
  const bool with_trace_;
  Complaint complaint_;
  SimulationResult result_;
  SimulationModel model_;
  ManualClock clock_;
  SimulatedEngine engine_;
  RequestQueue queue_;
  std::unique_ptr<Worker> worker_;
  size_t next_event_ = 0;
  int64_t elapsed_ = 0;      // microseconds, whatever the clock says
  int64_t slow_micros_ = 0;  // of the next step
  bool closed_ = false;
};

Simulation::Simulation(const Scenario& scenario, bool with_trace)
    : scenario_(scenario),
      with_trace_(with_trace),
      model_(scenario, complaint_, result_.counts),
      engine_(scenario.machine, complaint_),
      queue_(scenario.options.max_queued_requests,
             scenario.options.max_queued_tokens),
      worker_(
          std::make_unique<Worker>(scenario.options, engine_, clock_, queue_)) {
  engine_.context().on_rows = [this](int decode_rows, int prompt_rows) {
    OnStep(static_cast<int64_t>(
               scenario_.machine.Micros(decode_rows, prompt_rows)) +
           std::exchange(slow_micros_, 0));
  };
}

SimulationResult Simulation::Run() {
  while (ok() && !closed_ &&
         (next_event_ < scenario_.events.size() || !model_.idle())) {
    if (model_.idle()) {
      Pass(std::max<int64_t>(scenario_.events[next_event_].at - elapsed_, 0));
    }
    HappenUntilNow();
    if (!closed_) TakeStep();
  }
  if (ok()) CheckEnd();
  worker_->EndAll(absl::UnavailableError("over"));
  worker_.reset();
  result_.complaint = complaint_.text();
  return std::move(result_);
}

void Simulation::Pass(int64_t micros) {
  elapsed_ += micros;
  clock_.Advance(absl::Microseconds(micros));
}

void Simulation::HappenUntilNow() {
  while (!closed_ && next_event_ < scenario_.events.size() &&
         scenario_.events[next_event_].at <= elapsed_) {
    Happen(scenario_.events[next_event_++]);
  }
}

void Simulation::Happen(const ScenarioEvent& event) {
  // What steps take has to be known before one can be told to take long.
  const bool early = result_.counts.steps < kLearningSteps;
  switch (event.kind) {
    case Kind::kArrive:
      return Arrive(event);
    case Kind::kCancel:
      return model_.Cancel(event.request);
    case Kind::kFailStep:
      return engine_.context().FailNextStep();
    case Kind::kSlowStep:
      if (!early) slow_micros_ += event.micros;
      return;
    case Kind::kSetClock:
      if (early) return;
      return clock_.Advance(absl::Microseconds(event.micros));
    case Kind::kClose:
      closed_ = true;
      return queue_.Close();
  }
}

void Simulation::Arrive(const ScenarioEvent& event) {
  auto sequence = std::make_unique<SimulatedSequence>(event.request, event.task,
                                                      engine_.context());
  SimulatedRequest& model = model_.Arrive(event, sequence.get(), clock_.Now());
  auto request = std::make_unique<Request>();
  request->tenant = {.id = static_cast<uint64_t>(event.tenant) + 100,
                     .weight = scenario_.weights[event.tenant]};
  request->priority = event.priority;
  request->deadline = model.deadline;
  request->source_tokens = model.queued_tokens();
  request->sequence = std::move(sequence);
  request->listener = &model;
  const absl::Status status = queue_.Push(request, clock_.Now());
  if (status.ok() != (request == nullptr)) {
    model.Complain("is taken though it is refused, or not taken");
  }
  model_.OnPushed(model, status);
}

void Simulation::TakeStep() {
  const SimulatedContext& context = engine_.context();
  const StepCounts before = context.counts();
  model_.ExpectSweep(clock_.Now());
  worker_->Sweep();
  model_.CheckAnswers("before the step");
  if (worker_->busy() == model_.idle()) {
    complaint_.Add(absl::StrFormat("the worker is %s, %d requests are there",
                                   worker_->busy() ? "busy" : "not busy",
                                   model_.live()));
  }
  if (!ok()) return;
  const bool steps = !model_.idle();
  const absl::Duration took = steps ? PlanAndCompute() : absl::ZeroDuration();
  if (!ok()) return;
  const StepCounts& counts = context.counts();
  model_.CheckReport(
      worker_->Report(), steps ? &context.last_step() : nullptr, took,
      {.queried_tokens = counts.queried_tokens - before.queried_tokens,
       .hit_tokens = counts.hit_tokens - before.hit_tokens},
      context.total_blocks() - context.free_blocks());
}

absl::Duration Simulation::PlanAndCompute() {
  const absl::Time start = clock_.Now();
  model_.ExpectPlan(engine_.context().free_blocks());
  worker_->Plan();
  worker_->Step();
  const absl::Duration took =
      std::max(clock_.Now() - start, absl::ZeroDuration());
  if (!ok()) return took;
  model_.ExpectDelivery(engine_.context().last_step());
  worker_->Deliver();
  model_.CheckAnswers("after the step");
  return took;
}

void Simulation::OnStep(int64_t micros) {
  const SimulatedStep& step = engine_.context().last_step();
  Pass(micros);
  if (with_trace_) Trace(step);
  model_.CheckStep(step, absl::Microseconds(micros));
  if (ok()) HappenUntilNow();
}

void Simulation::CheckEnd() {
  model_.ExpectClose();
  worker_->EndAll(absl::UnavailableError("the server stops"));
  if (result_.counts.preempted > 2 * result_.counts.requests) {
    complaint_.Add(absl::StrFormat("%d requests are preempted %d times",
                                   result_.counts.requests,
                                   result_.counts.preempted));
  }
  model_.CheckAnswers("when the server stops");
  if (!queue_.WaitUntilEmpty(absl::ZeroDuration()) ||
      queue_.depth().requests != 0 || queue_.depth().tokens != 0) {
    complaint_.Add("at the end the queue counts requests");
  }
}

void Simulation::Trace(const SimulatedStep& step) {
  absl::StrAppendFormat(&result_.trace, "%10d us: step %d%s", elapsed_,
                        result_.counts.steps + 1, step.failed ? " fails" : "");
  for (const int request : step.preempted) {
    absl::StrAppend(&result_.trace, ", preempt ", request);
  }
  for (const SimulatedStep::Part& part : step.parts) {
    const char* const phase = part.phase == Phase::kEncode   ? "encode"
                              : part.phase == Phase::kPrompt ? "prompt"
                                                             : "decode";
    absl::StrAppendFormat(&result_.trace, ", %s %d (%d)", phase, part.request,
                          part.computed);
  }
  absl::StrAppend(&result_.trace, "\n");
}

}  // namespace

SimulationResult Simulate(const Scenario& scenario, bool with_trace) {
  return Simulation(scenario, with_trace).Run();
}

}  // namespace attend
