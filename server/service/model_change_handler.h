#ifndef ATTEND_SERVER_SERVICE_MODEL_CHANGE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_MODEL_CHANGE_HANDLER_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/service/awaited_result.h"
#include "server/service/call_context.h"
#include "server/service/handler.h"
#include "server/service/model_control.h"
#include "server/service/service.h"

namespace attend {

// The work behind a call that loads or unloads a model. The call waits for the
// end of the change, but not the change for the call: one whose client has gone
// ends at once.
class ModelChangeHandler : public Handler {
 public:
  ModelChangeHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& request) final;
  void Continue(Responder& to) final;
  bool quiet() const final;

 protected:
  // What the request asks for.
  virtual absl::StatusOr<ModelChange> Read(
      const google::protobuf::Message& request) const = 0;
  // The answer once the change has been made.
  virtual void Answer(const ModelEntry* model, Responder& to) const = 0;

 private:
  // Whether the caller may change that model.
  absl::Status CheckRights(const ModelChange& change) const;

  const Service& service_;
  CallContext& context_;
  std::string name_;
  // Null: nothing has been submitted.
  std::shared_ptr<AwaitedResult<absl::Status>> outcome_;
};

// A ModelChangeHandler from two functions. `read` makes a change of a Request;
// `answer` makes a Response of the model that is served now, or of null.
template <class Request, class Response>
class ModelChangeCall final : public ModelChangeHandler {
 public:
  using ReadFunction = absl::StatusOr<ModelChange>(const Request&);
  using AnswerFunction = Response(const ModelEntry*);

  ModelChangeCall(const Service& service, CallContext& context,
                  ReadFunction* read, AnswerFunction* answer)
      : ModelChangeHandler(service, context), read_(read), answer_(answer) {}

 private:
  absl::StatusOr<ModelChange> Read(
      const google::protobuf::Message& request) const override {
    return read_(static_cast<const Request&>(request));
  }
  void Answer(const ModelEntry* model, Responder& to) const override {
    to.Send(answer_(model));
  }

  ReadFunction* const read_;
  AnswerFunction* const answer_;
};

// Makes a ModelChangeCall; the types of the messages are those of the
// functions.
template <class Request, class Response>
std::unique_ptr<Handler> NewModelChangeCall(
    const Service& service, CallContext& context,
    absl::StatusOr<ModelChange> (*read)(const Request&),
    Response (*answer)(const ModelEntry*)) {
  return std::make_unique<ModelChangeCall<Request, Response>>(service, context,
                                                              read, answer);
}

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MODEL_CHANGE_HANDLER_H_
