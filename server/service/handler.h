#ifndef ATTEND_SERVER_SERVICE_HANDLER_H_
#define ATTEND_SERVER_SERVICE_HANDLER_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"

namespace attend {

// The way back to a call's client, whatever the protocol.
class Responder {
 public:
  virtual ~Responder() = default;
  // An answer of the method's type. Takes what it needs of it.
  virtual void Send(const google::protobuf::Message& answer) = 0;
  // The end: no answer comes after it. An error ends the call without one.
  virtual void Finish(const absl::Status& status) = 0;
};

// Figures of a call for its log line.
struct CallSummary {
  int inputs = 0;
  int failed_inputs = 0;
  int source_tokens = 0;
  int generated_tokens = 0;
};

// The work behind one call, free of protocols: a stream of answers, of which a
// unary call has one. A protocol whose messages are not attend.v1's wraps such
// a handler: it translates the request, and the answers by a Responder of its
// own.
class Handler {
 public:
  virtual ~Handler() = default;

  // Checks, tokenises, submits; once, on a tokenizer thread. `request` is of
  // the method's type. After an error nothing is under way, and the call ends
  // with it.
  virtual absl::Status Start(const google::protobuf::Message& request) = 0;

  // The rest is called by the call's thread, when Start() has returned OK.

  // Sends the next answer if there is one, at most one; finishes after the
  // last, or with an error in place of an answer. Called when one more answer
  // can be sent and there may be one, until it has finished.
  virtual void Continue(Responder& to) = 0;
  // Nobody calls this object from outside any more: it may be destroyed.
  virtual bool quiet() const { return true; }
  virtual CallSummary summary() const { return {}; }
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_HANDLER_H_
