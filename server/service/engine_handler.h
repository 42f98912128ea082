#ifndef ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_

#include <google/protobuf/message.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/mutex.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/service/call_context.h"
#include "server/service/handler.h"
#include "server/service/input_state.h"
#include "server/service/params.h"
#include "server/service/results.h"
#include "server/service/service.h"

namespace attend {

// The inputs [begin, end) of a call.
struct InputRange {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

// The work behind a call whose inputs the engine computes. Submits the inputs,
// knows when all inputs have ended, and adds up their figures for the log. Each
// input has a status of its own.
template <class Request>
class EngineHandler : public Handler {
 public:
  absl::StatusOr<int> Start(const google::protobuf::Message& message) final {
    const auto& request = static_cast<const Request&>(message);
    context_.UseEngine();
    if (model_ == nullptr) RETURN_IF_ERROR(Begin(request));
    ASSIGN_OR_RETURN(const int count, Prepare(request));
    if (count != kMore) AddInputs(count);
    return count;
  }
  absl::Status StartInput(const google::protobuf::Message& message,
                          int index) final {
    InputState& input = *inputs_[index];
    const auto& request = static_cast<const Request&>(message);
    if (index == 0) {
      RETURN_IF_ERROR(context_.ErrorOf(PrepareInSandbox(request)));
    }
    // Nobody waits for the others once the call has ended.
    absl::Status status = CatchOutOfMemory([&] {
      const absl::Status awaited = context_.CheckAwaited();
      return awaited.ok() ? Submit(request, index, input) : awaited;
    });
    status = context_.ErrorOf(std::move(status));
    if (absl::IsCancelled(status) || absl::IsDeadlineExceeded(status)) {
      input.End(status);
    } else if (!status.ok()) {
      input.Reject(status);
    }
    return absl::OkStatus();
  }

  bool quiet() const final {
    MutexLock lock(context_.mutex());
    return progress_.running == 0;
  }
  CallSummary summary() const final {
    MutexLock lock(context_.mutex());
    return Summarize(inputs_);
  }

 protected:
  // `service` and `context` outlive the handler. With `streaming` the output of
  // an input is handed over as it grows, otherwise when the input has ended.
  EngineHandler(const Service& service, CallContext& context, bool streaming)
      : service_(service), context_(context), streaming_(streaming) {}

  // Checks all that concerns the whole request, and returns the number of its
  // inputs, or kMore. An error ends the call.
  virtual absl::StatusOr<int> Prepare(const Request& request) = 0;
  // Reads what of the request takes a job of the Sandbox, before the first
  // input is submitted, on a thread that may wait for it. An error ends the
  // call.
  virtual absl::Status PrepareInSandbox(const Request&) {
    return absl::OkStatus();
  }
  // Submits one input. An error becomes the status of that input; the other
  // inputs go on. Nothing may fail, and nothing may be allocated, once the
  // input has been submitted.
  virtual absl::Status Submit(const Request& request, int index,
                              InputState& input) = 0;

  const Service& service() const { return service_; }
  CallContext& context() const { return context_; }
  const ServedModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  const ModelInfo& info() const { return model_->info(); }
  const Inputs& inputs() const { return inputs_; }
  Inputs& inputs() { return inputs_; }
  const InputState& input(int index) const { return *inputs_[index]; }
  InputState& input(int index) { return *inputs_[index]; }
  int size() const { return static_cast<int>(inputs_.size()); }

  // Moves the inputs that have ended since the last call of this function into
  // `ended`, in ascending order. False: there are none.
  bool TakeEnded(std::vector<int>& ended) {
    MutexLock lock(context_.mutex());
    return progress_.Take(ended);
  }
  // The number of inputs that the worker may use.
  int running() const {
    MutexLock lock(context_.mutex());
    return progress_.running;
  }

  // The status of the first input that failed, of inputs that have ended.
  absl::Status StatusOf(InputRange range) const {
    for (int i = range.begin; i < range.end; ++i) {
      absl::Status status = inputs_[i]->status();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // Fills the status, which is returned, the usage and the timings of inputs
  // that have ended. Needs no lock: the worker does not touch such inputs any
  // more.
  template <class Answer>
  absl::Status FillOutcome(InputRange range, Answer& answer) const {
    absl::Status status = StatusOf(range);
    *answer.mutable_status() = ToProto(status);
    *answer.mutable_usage() = UsageOf(inputs_, range.begin, range.end);
    *answer.mutable_timings() = MakeTimings(
        TimesOf(inputs_, range.begin, range.end), context_.arrival());
    return status;
  }
  // Fills the status, usage and timings of an input that has ended. Needs no
  // lock: the worker does not touch such an input any more.
  template <class Answer>
  void FillOutcome(int index, Answer& answer) const {
    const InputState& input = *inputs_[index];
    *answer.mutable_status() = ToProto(input.status());
    *answer.mutable_usage() = MakeUsage(input.facts(), input.output());
    *answer.mutable_timings() = MakeTimings(input.times(), context_.arrival());
  }

 private:
  void AddInputs(int count) {
    MutexLock lock(context_.mutex());
    progress_.Reserve(inputs_.size() + count);
    for (int i = 0; i < count; ++i) {
      inputs_.push_back(std::make_unique<InputState>(
          *model_, service_.clock, context_, progress_, size(), streaming_));
    }
  }
  absl::Status Begin(const Request& request) {
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    RETURN_IF_ERROR(CheckPriority(request.priority()));
    absl::Status refused = context_.account().BeginInputs(service_.clock.Now());
    if (!refused.ok()) model_->metrics.OnRejected(RejectReason::kTenantLimit);
    return refused;
  }

  const Service& service_;
  CallContext& context_;
  const bool streaming_;
  const ServedModel* model_ = nullptr;
  InputProgress progress_;
  Inputs inputs_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_
