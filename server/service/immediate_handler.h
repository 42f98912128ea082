#ifndef ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_

#include <google/protobuf/message.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/service/handler.h"
#include "server/service/service.h"

namespace attend {

// The work behind a unary call that needs no engine: a function of the request.
// A tokenizer thread runs it.
template <class Request, class Response>
class ImmediateHandler final : public Handler {
 public:
  using Function = absl::StatusOr<Response>(const Service&, CallContext&,
                                            const Request&);
  ImmediateHandler(const Service& service, CallContext& context,
                   Function* function)
      : service_(service), context_(context), function_(function) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& request) override {
    ASSIGN_OR_RETURN(
        response_,
        function_(service_, context_, static_cast<const Request&>(request)));
    return 0;
  }
  void Continue(Responder& to) override {
    // The message ends here, and not when the client has read the answer.
    to.Send(std::exchange(response_, {}));
    to.Finish(absl::OkStatus());
  }

  bool answers_at_once() const override { return true; }

 private:
  const Service& service_;
  CallContext& context_;
  Function* const function_;
  Response response_;
};

// Makes an ImmediateHandler; the types of the messages are those of `function`.
template <class Request, class Response>
std::unique_ptr<Handler> NewImmediateHandler(
    const Service& service, CallContext& context,
    absl::StatusOr<Response> (*function)(const Service&, CallContext&,
                                         const Request&)) {
  return std::make_unique<ImmediateHandler<Request, Response>>(service, context,
                                                               function);
}

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_IMMEDIATE_HANDLER_H_
