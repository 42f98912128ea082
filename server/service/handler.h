#ifndef ATTEND_SERVER_SERVICE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_HANDLER_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attend {

// Carries the answers of a call to its client, by whatever protocol.
class Responder {
 public:
  virtual ~Responder() = default;
  // Sends an answer, a message of the method's response type. `answer` is not
  // used after the return.
  virtual void Send(const google::protobuf::Message& answer) = 0;
  // Ends the call with `status`. Called once, after the last answer.
  virtual void Finish(const absl::Status& status) = 0;
};

// The figures of a call in its log line.
struct CallSummary {
  int inputs = 0;
  int failed_inputs = 0;
  int source_tokens = 0;
  int generated_tokens = 0;
};

// The work behind one call, without any protocol. A handler makes a stream of
// answers; a unary call has one. A protocol with other messages than those of
// attend.v1 wraps a handler: it translates the request, and translates the
// answers in a Responder of its own.
class Handler {
 public:
  virtual ~Handler() = default;

  // Checks all that concerns the whole request. Called once, on a tokenizer
  // thread. `request` is a message of the method's request type. Returns the
  // number of parts to tokenise. An error ends the call; nothing is under way
  // then.
  virtual absl::StatusOr<int> Start(
      const google::protobuf::Message& request) = 0;
  // Tokenises and submits one part. Called for one part after the other, each
  // time on a tokenizer thread; other calls take their turn in between. An
  // error ends the call, as an error of Start() does, so nothing may be under
  // way then.
  virtual absl::Status StartPart(const google::protobuf::Message&, int) {
    return absl::OkStatus();
  }

  // The call's thread calls all below, once all parts have been started.

  // Sends the next answer, if there is one. Sends at most one. Calls Finish()
  // after the last answer, or with an error instead of an answer. Called again
  // and again until then, whenever the client can take one more answer and
  // there may be one.
  virtual void Continue(Responder& to) = 0;
  // True when no other thread uses the handler any more. Only then may the
  // handler be destroyed.
  virtual bool quiet() const { return true; }
  virtual CallSummary summary() const { return {}; }
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_HANDLER_H_
