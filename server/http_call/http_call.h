#ifndef ATTEND_SERVER_HTTP_CALL_HTTP_CALL_H_
#define ATTEND_SERVER_HTTP_CALL_HTTP_CALL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/tensor/mutex.h"
#include "server/http/http_exchange.h"
#include "server/http_call/call_thread.h"
#include "server/http_call/http_calls.h"
#include "server/http_call/http_translator.h"
#include "server/http_call/translating_handler.h"
#include "server/service/live_calls.h"
#include "server/service/service_call.h"
#include "server/service/unread_answers.h"

namespace attend {

// One call over HTTP. Its life: begun when the head of the request has come,
// read, answered, ended. A call that is refused for its head is answered
// without reading the body.
//
// The event loop of the HTTP port notifies the call, which records the event
// and processes it on the CallThread. A call that listens destroys itself when
// no further event is possible: the exchange and Start() have ended, the
// handler is quiet, and no wake-up is pending.
class HttpCall final : private LiveCalls::Entry,  // first base: destroyed last
                       public ServiceCall,
                       private Wakeable,
                       private HttpExchangeListener,
                       private Responder {
 public:
  HttpCall(const HttpCalls::Route& route, HttpCalls& calls,
           const HttpRequest& request, std::shared_ptr<HttpExchange> exchange);
  ~HttpCall() override;

  // Takes the request's head; on the event loop, once. Listen() follows, or the
  // call is not served.
  void Accept(const HttpRequest& request);
  // From here on the call owns itself.
  void Listen();
  // Asks the call to end without an answer. Any thread.
  void RequestClose();

 private:
  // Events that are not processed yet.
  struct Events {
    std::optional<HttpBody> body;
    bool written = false;
    bool close = false;
    std::optional<HttpEnd> end;
  };

  void OnBody(HttpBody body) override;
  void OnWritten() override;
  void OnEnd(HttpEnd end) override;
  void Note(absl::FunctionRef<void(Events&)> note);

  void OnWake() override;
  void Notice(Events events);
  // Does what can be done now.
  void Advance();
  void Write();
  HttpResponse Answered(absl::string_view type, std::string text) const;
  HttpResponse Failed() const;
  // Destroys the call if nothing is left to come.
  void DestroyIfDone();
  int StatusSent() const;  // once the whole answer has been sent
  CallEnd EndOfCall() const;

  std::unique_ptr<Handler> NewHandler() override;
  absl::Status ReadRequest(google::protobuf::Message&) override {
    return absl::OkStatus();
  }
  Responder& responder() override { return *this; }
  size_t request_bytes() const override { return request_bytes_; }
  bool AnswersAdmission() const override;
  void PostWake() override { thread_.Wake(*this); }
  void FlushWakes() override { thread_.Flush(); }

  void Send(const google::protobuf::Message&) override {}
  // The first end counts. After an error, further results are discarded.
  void Finish(const absl::Status& status) override {
    if (!status.ok()) cancelled_ = true;
    if (!end_) end_.emplace(status);
  }

  const HttpCalls::Route& route_;
  HttpCalls& calls_;
  CallThread& thread_;
  const std::shared_ptr<HttpExchange> exchange_;
  const std::unique_ptr<HttpTranslator> translator_;

  Mutex events_mutex_;
  Events events_ ABSL_GUARDED_BY(events_mutex_);

  // The CallThread's, once the call has been accepted. While the call starts,
  // a tokenizer thread may set end_ and the handler's text.
  HttpCallInput input_;  // until the call starts
  size_t request_bytes_ = 0;
  TranslatingHandler* handler_ = nullptr;  // null: not started
  bool reading_ = false;                   // the body is still to come
  bool begun_ = false;                     // a stream has begun
  bool writing_ = false;                   // a part is under way
  std::string text_;                       // to be written
  std::optional<absl::Status> end_;        // the status that ends the call
  bool ended_ = false;                     // the end is under way
  std::optional<HttpEnd> exchange_end_;    // set: nothing can be sent any more
  std::optional<UnreadAnswers::Entry> unread_;  // of what is being sent
  bool slow_ = false;  // the client was too slow for its answer
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_HTTP_CALL_H_
