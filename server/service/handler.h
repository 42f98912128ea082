#ifndef ATTEND_SERVER_SERVICE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_HANDLER_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/observability/inference_totals.h"

namespace attend {

// Sends the answers of a call to the client, by the protocol of the call.
class Responder {
 public:
  virtual ~Responder() = default;
  // Sends an answer, a message of the method's response type. `answer` is not
  // used after the return.
  virtual void Send(const google::protobuf::Message& answer) = 0;
  // Ends the call with `status`. Called once, after the last answer.
  virtual void Finish(const absl::Status& status) = 0;
};

// The figures of a call in its log line and in its model's totals.
struct CallSummary {
  int inputs = 0;
  int failed_inputs = 0;
  int computed_inputs = 0;  // by the engine, at least a part
  int source_tokens = 0;
  int generated_tokens = 0;
  // Where the time went, without `answer`. Only of inputs that were computed.
  CallParts parts = {};
  // From the arrival of the call to its first output; infinite: there was none.
  absl::Duration first_token = absl::InfiniteDuration();
};

// The work behind one call, whatever the protocol. A handler makes a stream of
// answers; the stream of a unary call has one answer. Where a client streams
// requests, each request has a handler of its own. A protocol whose messages
// are not those of attend.v1 wraps a handler: the wrapper translates the
// request, and a Responder of the wrapper translates the answers.
class Handler {
 public:
  virtual ~Handler() = default;

  // What Start() returns when it is to be called again.
  static constexpr int kMore = -1;
  // Checks all that concerns the whole request, on a tokenizer thread.
  // `request` is a message of the method's request type. Returns the number of
  // inputs to tokenise. A handler with more work than some milliseconds returns
  // kMore in between: other calls may be served before Start() is called again.
  // An error ends the call; the handler must not have submitted anything by
  // then.
  virtual absl::StatusOr<int> Start(
      const google::protobuf::Message& request) = 0;
  // Tokenises and submits input number `index`. Called for one input after the
  // other, each time on a tokenizer thread; other calls may be served in
  // between. An error ends the call, as an error of Start() does; the handler
  // must not have submitted anything by then.
  virtual absl::Status StartInput(const google::protobuf::Message& /*request*/,
                                  int /*index*/) {
    return absl::OkStatus();
  }

  // All functions below are called after all inputs have been started: by the
  // call's thread, or by the tokenizer thread that ends the start.

  // Sends the next answer, if there is one, and never more than one. Calls
  // Finish() after the last answer, or with an error in place of an answer.
  // Continue() is called again and again until Finish() is called: whenever the
  // client can take one more answer and there may be an answer.
  virtual void Continue(Responder& to) = 0;
  // Tells the client of a method that streams requests that this request failed
  // before its inputs were started: Finish(), perhaps after an answer that says
  // so. Called in place of Continue(). `request` is empty if Start() was not
  // called and the request is too long to be read only for that.
  virtual void Refuse(const google::protobuf::Message& /*request*/,
                      const absl::Status& status, Responder& to) {
    to.Finish(status);
  }
  // True if the whole answer is there once all inputs have been started, and
  // one Continue() sends it and finishes the call. The tokenizer thread may do
  // that.
  virtual bool answers_at_once() const { return false; }
  // True when no other thread uses the handler any more. A handler may be
  // destroyed only when quiet() is true.
  virtual bool quiet() const { return true; }
  virtual CallSummary summary() const { return {}; }
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_HANDLER_H_
