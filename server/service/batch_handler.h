#ifndef ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
#define ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/service/handler.h"
#include "server/service/params.h"
#include "server/service/results.h"
#include "server/service/service.h"

namespace attend {

// A batch in, one answer out when all of its inputs have ended: what methods
// that answer so have in common. Each input has its own status, and the call
// fails as a whole where all fail with one code.
template <class Request, class Response>
class BatchHandler : public Handler<Request, Response> {
 public:
  BatchHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::Status Start(const Request& request) final {
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    RETURN_IF_ERROR(CheckPriority(request.priority()));
    ASSIGN_OR_RETURN(const int count, Prepare(request));
    for (int i = 0; i < count; ++i) {
      inputs_.push_back(std::make_unique<InputState>(
          *model_, service_.clock, context_, /*streaming=*/false));
    }
    for (int i = 0; i < count; ++i) {
      const absl::Status status = Submit(request, i, *inputs_[i]);
      if (!status.ok()) {
        model_->metrics.OnRejected(RejectReason::kInvalid);
        inputs_[i]->End(status);
      }
    }
    return absl::OkStatus();
  }

  bool Next(Response& response) final {
    if (ended_) return false;
    {
      std::lock_guard lock(context_.mutex());
      if (!AllDone(inputs_)) return false;
      status_ = CommonError(inputs_);
    }
    // Done: the worker touches them no more.
    ended_ = true;
    if (!status_.ok()) return false;
    response.set_model(info().name);
    Fill(response);
    return true;
  }
  bool ended() const final { return ended_; }
  absl::Status status() const final { return status_; }

  bool quiet() const final {
    std::lock_guard lock(context_.mutex());
    return AllDone(inputs_);
  }
  CallSummary summary() const final {
    std::lock_guard lock(context_.mutex());
    return Summarize(inputs_);
  }

 protected:
  // Checks what concerns the whole request; returns how many inputs it has.
  virtual absl::StatusOr<int> Prepare(const Request& request) = 0;
  // Submits one input; an error is of the input itself.
  virtual absl::Status Submit(const Request& request, int index,
                              InputState& input) = 0;
  // Puts the results into words; all inputs have ended.
  virtual void Fill(Response& response) = 0;

  const Service& service() const { return service_; }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  const ChatTemplate* chat() const { return model_->chat; }
  const ModelInfo& info() const { return model_->info(); }
  const InputState& input(int index) const { return *inputs_[index]; }
  int size() const { return static_cast<int>(inputs_.size()); }

  // What all results have. True: the input went well.
  template <class Result>
  bool FillOutcome(int index, Result& result) const {
    const InputState& input = *inputs_[index];
    *result.mutable_status() = ToProto(input.status());
    *result.mutable_usage() = MakeUsage(input.facts(), input.output());
    *result.mutable_timings() = MakeTimings(input.times(), context_.arrival());
    return input.status().ok();
  }

 private:
  const Service& service_;
  CallContext& context_;
  const ServedModel* model_ = nullptr;
  Inputs inputs_;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_BATCH_HANDLER_H_
