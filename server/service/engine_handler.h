#ifndef ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_

#include <google/protobuf/message.h>

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/service/call_context.h"
#include "server/service/handler.h"
#include "server/service/input_state.h"
#include "server/service/params.h"
#include "server/service/results.h"
#include "server/service/service.h"

namespace attend {

// The work behind a call whose inputs the engine computes: how they are
// submitted, when it is over, what it was. Each input has its own status.
template <class Request>
class EngineHandler : public Handler {
 public:
  absl::Status Start(const google::protobuf::Message& message) final {
    const auto& request = static_cast<const Request&>(message);
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    RETURN_IF_ERROR(CheckPriority(request.priority()));
    ASSIGN_OR_RETURN(const int count, Prepare(request));
    for (int i = 0; i < count; ++i) {
      inputs_.push_back(std::make_unique<InputState>(*model_, service_.clock,
                                                     context_, streaming_));
    }
    for (int i = 0; i < count; ++i) {
      const absl::Status status = Submit(request, i, *inputs_[i]);
      if (!status.ok()) inputs_[i]->Reject(status);
    }
    return absl::OkStatus();
  }

  bool quiet() const final {
    std::lock_guard lock(context_.mutex());
    return AllDone(inputs_);
  }
  CallSummary summary() const final {
    std::lock_guard lock(context_.mutex());
    return Summarize(inputs_);
  }

 protected:
  // Both outlive it. With `streaming` output is handed over as it grows.
  EngineHandler(const Service& service, CallContext& context, bool streaming)
      : service_(service), context_(context), streaming_(streaming) {}

  // Checks what concerns the whole request; returns how many inputs it has.
  virtual absl::StatusOr<int> Prepare(const Request& request) = 0;
  // Submits one input; an error is of the input itself.
  virtual absl::Status Submit(const Request& request, int index,
                              InputState& input) = 0;

  const Service& service() const { return service_; }
  CallContext& context() const { return context_; }
  const ServedModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  const ModelInfo& info() const { return model_->info(); }
  const Inputs& inputs() const { return inputs_; }
  const InputState& input(int index) const { return *inputs_[index]; }
  int size() const { return static_cast<int>(inputs_.size()); }

  // What answers say of an input that is done: the worker touches it no more.
  template <class Answer>
  void FillOutcome(int index, Answer& answer) const {
    const InputState& input = *inputs_[index];
    *answer.mutable_status() = ToProto(input.status());
    *answer.mutable_usage() = MakeUsage(input.facts(), input.output());
    *answer.mutable_timings() = MakeTimings(input.times(), context_.arrival());
  }

 private:
  const Service& service_;
  CallContext& context_;
  const bool streaming_;
  const ServedModel* model_ = nullptr;
  Inputs inputs_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ENGINE_HANDLER_H_
