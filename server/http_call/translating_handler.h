#ifndef ATTEND_SERVER_HTTP_CALL_TRANSLATING_HANDLER_H_
#define ATTEND_SERVER_HTTP_CALL_TRANSLATING_HANDLER_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http_call/http_translator.h"
#include "server/service/handler.h"
#include "server/service/service.h"

namespace attend {

// The handler of a call over HTTP: a handler of attend.v1, and the translator
// between it and the client. Answers are not sent by the Responder,
// but kept as text for the call.
class TranslatingHandler final : public Handler {
 public:
  // `service` and `context` must outlive the handler. `translator` is never
  // null.
  TranslatingHandler(const Service& service, CallContext& context,
                     HttpTranslator& translator, HttpCallInput input)
      : service_(service),
        context_(context),
        translator_(translator),
        input_(std::move(input)) {}

  // The message is not used: the input of the call is the request.
  absl::StatusOr<int> Start(const google::protobuf::Message&) override;
  absl::Status StartInput(const google::protobuf::Message&, int index) override;
  void Continue(Responder& to) override;
  bool answers_at_once() const override { return inner_->answers_at_once(); }
  bool quiet() const override { return inner_ == nullptr || inner_->quiet(); }
  CallSummary summary() const override {
    return inner_ == nullptr ? CallSummary() : inner_->summary();
  }

  bool streams() const { return request_.streams; }
  // The text of the answers since the last call of this function.
  std::string TakeText() { return std::exchange(text_, {}); }

 private:
  class Translation;

  const Service& service_;
  CallContext& context_;
  HttpTranslator& translator_;
  HttpCallInput input_;
  HandledRequest request_;  // without a message once all inputs are started
  int inputs_ = 0;          // as inner_->Start() returns it
  std::unique_ptr<Handler> inner_;
  std::string text_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_TRANSLATING_HANDLER_H_
