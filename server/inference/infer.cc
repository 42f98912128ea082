#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/json/utf8.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/field_names.h"
#include "server/inference/infer_plan.h"
#include "server/inference/methods.h"
#include "server/inference/model_version.h"
#include "server/inference/output_tensors.h"

namespace attend {
namespace {

using google::protobuf::Message;

// The last response to a request has it, with the value true.
constexpr char kFinalResponse[] = "triton_final_response";

// ModelInfer, and one request of ModelStreamInfer: tensors become a request of
// attend.v1, which its own handler serves, and its answers become tensors.
class InferHandler final : public Handler {
 public:
  InferHandler(const Service& service, CallContext& context, bool streaming)
      : service_(service), context_(context), streaming_(streaming) {}

  absl::StatusOr<int> Start(const Message& message) override {
    const auto& request =
        static_cast<const inference::ModelInferRequest&>(message);
    Name(request);
    ASSIGN_OR_RETURN(const ModelEntry* entry,
                     FindServedVersion(service_, context_, request.model_name(),
                                       request.model_version()));
    const ServedModel* const model = &*entry->served;
    name_.set_model_name(entry->name);
    name_.set_model_version(VersionText(*entry));
    ASSIGN_OR_RETURN(plan_,
                     MakeInferPlan(request, service_, *model, streaming_));
    context_.ShortenDeadline(context_.arrival() + plan_.timeout);
    const InferTask& task = *plan_.task;
    MakeHandler* const make = plan_.in_parts ? task.make_stream : task.make;
    inner_ = make(service_, context_);
    absl::StatusOr<int> inputs = inner_->Start(*plan_.request);
    if (!inputs.ok()) return WithTensorNames(inputs.status());
    inputs_ = *inputs;
    return inputs;
  }

  absl::Status StartInput(const Message&, int index) override {
    const absl::Status status = inner_->StartInput(*plan_.request, index);
    // Nobody needs it any more, while the inputs may wait for long.
    if (index + 1 == inputs_) plan_.request.reset();
    return WithTensorNames(status);
  }

  void Continue(Responder& to) override {
    Turn turn(*this);
    inner_->Continue(turn);
    if (turn.end && !turn.end->ok()) return Fail(*turn.end, to);
    if (turn.response)
      Send(*std::move(turn.response), turn.end.has_value(), to);
    if (turn.end) to.Finish(absl::OkStatus());
  }

  void Refuse(const Message& request, const absl::Status& status,
              Responder& to) override {
    if (name_.model_name().empty()) {
      Name(static_cast<const inference::ModelInferRequest&>(request));
    }
    Fail(status, to);
  }

  bool quiet() const override { return inner_ == nullptr || inner_->quiet(); }
  CallSummary summary() const override {
    return inner_ == nullptr ? CallSummary() : inner_->summary();
  }

 private:
  using Response = inference::ModelStreamInferResponse;

  // What the inner handler says at a time, translated.
  struct Turn final : Responder {
    explicit Turn(InferHandler& of) : handler(of) {}
    void Send(const Message& answer) override {
      absl::StatusOr<Response> translated = handler.Translate(answer);
      if (translated.ok()) {
        response = *std::move(translated);
      } else {
        end = translated.status();
      }
    }
    // The first end counts.
    void Finish(const absl::Status& status) override {
      if (!end) end = WithTensorNames(status);
    }

    InferHandler& handler;
    std::optional<Response> response;
    std::optional<absl::Status> end;
  };

  // What every response to the request repeats.
  void Name(const inference::ModelInferRequest& request) {
    name_.set_model_name(request.model_name());
    name_.set_model_version(request.model_version());
    name_.set_id(request.id());
  }

  // An error fails the whole request; of parts, an input that failed is told in
  // one, and the others go on.
  absl::StatusOr<Response> Translate(const Message& answer) const {
    const InferTask& task = *plan_.task;
    const auto check = plan_.in_parts ? task.check_part : task.check;
    const absl::Status failed = WithTensorNames(check(answer));
    if (!failed.ok() && !plan_.tells_status) {
      if (!plan_.in_parts) return failed;
      return ErrorResponse(failed);
    }
    Response response;
    *response.mutable_infer_response() = name_;
    OutputTensors outputs(plan_.outputs, *response.mutable_infer_response());
    const auto write = plan_.in_parts ? task.write_part : task.write;
    write(answer, outputs);
    return response;
  }

  Response ErrorResponse(const absl::Status& status) const {
    Response response;
    response.set_error_message(ReplaceInvalidUtf8(status.message()));
    *response.mutable_infer_response() = name_;
    return response;
  }

  void Send(Response response, bool last, Responder& to) const {
    if (!streaming_) return to.Send(response.infer_response());
    (*response.mutable_infer_response()->mutable_parameters())[kFinalResponse]
        .set_bool_param(last);
    to.Send(response);
  }

  // The request ends. A stream goes on, so there a response tells of it.
  void Fail(const absl::Status& status, Responder& to) const {
    if (streaming_) Send(ErrorResponse(status), /*last=*/true, to);
    to.Finish(status);
  }

  const Service& service_;
  CallContext& context_;
  const bool streaming_;
  inference::ModelInferResponse name_;
  InferPlan plan_;  // without a request once all inputs are started
  int inputs_ = 0;  // as inner_->Start() returns it
  std::unique_ptr<Handler> inner_;
};

}  // namespace

std::unique_ptr<Handler> NewModelInferHandler(const Service& service,
                                              CallContext& context) {
  return std::make_unique<InferHandler>(service, context, /*streaming=*/false);
}

std::unique_ptr<Handler> NewModelStreamInferHandler(const Service& service,
                                                    CallContext& context) {
  return std::make_unique<InferHandler>(service, context, /*streaming=*/true);
}

}  // namespace attend
