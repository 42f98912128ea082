#ifndef ATTEND_SERVER_SERVICE_SERVICE_CALL_H_
#define ATTEND_SERVER_SERVICE_SERVICE_CALL_H_

#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/service/call_context.h"
#include "server/service/call_environment.h"
#include "server/service/handler.h"
#include "server/service/live_calls.h"
#include "server/service/methods.h"

namespace attend {

// One call, whatever the protocol. A call is let in, started on tokenizer
// threads, answered, and in the end counted and logged. Each protocol has a
// derived class, which reads and writes the bytes of the call.
//
// All functions run on the call's thread, which is a thread of the protocol,
// except where a comment says otherwise. A call may be destroyed when quiet()
// is true and every posted wake-up has come.
class ServiceCall : public CallContext {
 public:
  void WakeAfterStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) final;

 protected:
  // `method` and `environment` must outlive the call.
  ServiceCall(const Method& method, CallEnvironment& environment);
  ~ServiceCall() override;

  // The request; at most once. On a tokenizer thread after Start(), or on the
  // call's thread if the call was refused.
  virtual absl::Status ReadRequest(google::protobuf::Message& request) = 0;
  // The handler of the call, in Start().
  virtual std::unique_ptr<Handler> NewHandler();
  // Takes the answers, on the call's thread or at the end of Start().
  virtual Responder& responder() = 0;
  // The size of the request before it is read. Any thread may ask.
  virtual size_t request_bytes() const = 0;
  // True if the protocol begins an answer as soon as the handler has taken the
  // request, whether there is something to answer or not. Asked at the end of
  // the start; a wake-up follows.
  virtual bool AnswersAdmission() const { return false; }
  // Any thread calls both with mutex() held. After PostWake() the call's thread
  // goes on once the engine's step has ended or FlushWakes() is called.
  virtual void PostWake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  virtual void FlushWakes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;

  // The call has come; its request need not be there. A request id that cannot
  // be used is replaced. True: Start() or Refuse() follows. False: the call is
  // refused whatever its request is, and Answer() says why.
  bool Begin(absl::string_view wanted_id, absl::Time deadline,
             const Caller& caller);
  // The request is there: it waits for a tokenizer thread, or is refused.
  // Throws nothing, whatever memory there is. `bytes`: those of the request,
  // which go back when it has been read and its inputs have been started.
  void Start(RequestBytes bytes = {});
  // The call cannot start: it ends with `status`.
  void Refuse(absl::Status status);
  // True while a tokenizer thread works; a wake-up follows if there is
  // something to say.
  bool starting() {
    MutexLock lock(mutex_);
    return starting_;
  }
  // Continues the handler, or finishes a call that could not start, or for
  // whose answer there is no memory. Not to be called while starting() is true,
  // nor after the call has been finished. Where the client sends one request, a
  // tokenizer thread may have finished the call before starting() becomes
  // false: so a long answer does not hold up the call's thread.
  void Answer();
  // True when the handler needs the call no more; see Handler::quiet(). Not to
  // be called while starting() is true.
  bool quiet() const { return failed_to_start_ || handler_->quiet(); }
  // Counts and logs the call, as far as there is memory, at its very end.
  void Report(CallEnd end) const;

  // The metrics of the call's model. Not to be called while starting() is true.
  CallMetrics& metrics() const;
  bool needs_proof() const { return environment_.service.tenants != nullptr; }

 private:
  void SetStarting(bool starting);
  // Finds out of which tenant the call is.
  absl::Status Identify(const Caller& caller);
  // Whether the call may come, as far as is known without its request.
  absl::Status Admit();
  absl::Status CheckDraining();
  // Makes the handler and queues the request; an error: it may not wait.
  absl::Status Enqueue();
  // Leaves `next` to a thread of the pool, with the same error.
  absl::Status WaitIn(WorkPool& pool, void (ServiceCall::*next)());
  // These on tokenizer threads, one after the other. Those that are the work of
  // a turn throw nothing, whatever memory there is: the first two, and
  // AnswerAtOnce().
  void RunStart();
  void StartInputs();
  absl::Status StartHandler();
  // Whose threads start the inputs.
  WorkPool& InputsPool();
  // Leaves `next`, work on about `bytes` bytes, to a later turn of the pool.
  // False: there is no memory for that.
  bool Pause(WorkPool& pool, size_t bytes, void (ServiceCall::*next)());
  // Answers on this thread, if that can be done now, and ends the start.
  void AnswerAtOnce();
  void EndStart(absl::Status status);
  void EndTokens();  // in the trace
  void Started(absl::Status status);
  void AnswerRefusal();
  void TryReport(CallEnd end) const;
  void LogCall(const CallEnd& end, const CallSummary& summary,
               absl::Duration duration) const;
  // Gives the spans of the call to the tracer, if the call is sampled.
  void EndTrace(const CallEnd& end, const CallSummary& summary,
                absl::Time now) const;
  // Adds the call to the totals of its model, if the engine got its inputs.
  void CountInference(const CallSummary& summary, bool success,
                      absl::Time now) const;

  const Method& method_;
  CallEnvironment& environment_;
  RequestBytes budgeted_;  // those of request_
  std::unique_ptr<google::protobuf::Message> request_;
  std::unique_ptr<Handler> handler_;

  int inputs_ = Handler::kMore;  // as Handler::Start() returns it
  int next_input_ = 0;           // the first one not started yet
  size_t all_bytes_ = 0;         // of the request
  size_t input_bytes_ = 0;       // of an input, on average

  std::optional<LiveCalls::Entry> computed_;
  bool starting_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_early_ ABSL_GUARDED_BY(mutex_) = false;  // while starting
  bool was_read_ = false;         // ReadRequest() was called
  bool answers_later_ = false;    // in a turn of its own
  bool failed_to_start_ = false;  // with start_status_; constant once started
  absl::Status start_status_;
  std::string host_;         // of the client; only for the access log
  int attempts_before_ = 0;  // as the client says
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_SERVICE_CALL_H_
