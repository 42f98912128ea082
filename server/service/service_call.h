#ifndef ATTEND_SERVER_SERVICE_SERVICE_CALL_H_
#define ATTEND_SERVER_SERVICE_SERVICE_CALL_H_

#include <google/protobuf/message.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/service/call_context.h"
#include "server/service/handler.h"
#include "server/service/methods.h"
#include "server/service/service.h"
#include "server/service/work_pool.h"

namespace attend {

// What all calls share, whatever their protocol. Outlives them.
struct CallEnvironment {
  CallEnvironment(Service served, int tokenizer_threads,
                  int max_tokenizer_queue)
      : service(std::move(served)),
        pool(tokenizer_threads, max_tokenizer_queue) {}

  // New calls end with UNAVAILABLE.
  void Drain() { lifecycle.draining = true; }
  // Running calls, too, within a step.
  void Cut() {
    lifecycle.draining = true;
    lifecycle.cut = true;
  }

  const Service service;
  Lifecycle lifecycle;
  WorkPool pool;
};

// Who calls, as the protocol knows. All of it is read before Begin() returns.
struct Caller {
  // The address without the port, in any form that is always the same.
  absl::string_view host;
  // What proves who it is: "Bearer KEY", or empty.
  absl::string_view authorization;
};

// How a call ended, as its protocol knows.
struct CallEnd {
  absl::Status status;  // that the client was told
  bool gone = false;    // or nobody was left to be told
  bool slow_reader = false;
};

// One call, whatever its protocol: let in, started on tokenizer threads,
// answered, and at last counted and logged. A protocol derives from it what
// carries its bytes.
//
// All of it runs on one thread of the protocol's, the call's, but for what
// says otherwise. It may be destroyed when it is quiet() and no wake-up that
// was posted is still to come.
class ServiceCall : public CallContext {
 public:
  void WakeAfterStep() final;

 protected:
  // Both outlive the call.
  ServiceCall(const Method& method, CallEnvironment& environment);

  // The request, on a tokenizer thread; once, after Begin().
  virtual absl::Status ReadRequest(google::protobuf::Message& request) = 0;
  // Its size before it is read; any thread.
  virtual size_t request_bytes() const = 0;
  // These with mutex() held, on any thread. The call's thread shall go on: when
  // the engine's step has ended, or FlushWakes() is called.
  virtual void PostWake() = 0;
  virtual void FlushWakes() = 0;

  // The call has come. A request id that cannot be used is replaced.
  void Begin(absl::string_view wanted_id, absl::Time deadline,
             const Caller& caller);
  // True while a tokenizer thread works; a wake-up follows if there is
  // something to say.
  bool starting();
  // Continues the handler, or finishes a call that could not start. Not while
  // starting(), nor after the end.
  void Answer(Responder& to);
  // Nothing from below comes any more. Not while starting().
  bool quiet() const { return failed_to_start_ || handler_->quiet(); }
  // Counts and logs the call, at its very end.
  void Report(CallEnd end) const;

  // Of the call's model. Not while starting().
  CallMetrics& metrics() const;

 private:
  // Finds out whose call it is.
  absl::Status Identify(const Caller& caller);
  absl::Status Admit();
  // These on tokenizer threads, one after the other.
  void RunStart();
  void RunParts();
  void EndStart(absl::Status status);

  const Method& method_;
  CallEnvironment& environment_;
  std::unique_ptr<google::protobuf::Message> request_;
  std::unique_ptr<Handler> handler_;

  int parts_ = 0;  // of the start
  int next_part_ = 0;
  size_t part_bytes_ = 0;  // about

  bool starting_ = false;         // guarded by mutex()
  bool woken_early_ = false;      // while starting; guarded by mutex()
  bool failed_to_start_ = false;  // with start_status_; constant once started
  absl::Status start_status_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_CALL_H_
