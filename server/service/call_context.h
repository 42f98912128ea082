#ifndef ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_
#define ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/api/thought.h"
#include "engine/tensor/mutex.h"
#include "server/scheduler/clock.h"
#include "server/scheduler/request.h"
#include "server/service/lifecycle.h"
#include "server/tenants/tenant_account.h"
#include "server/tracing/call_trace.h"

namespace attend {

struct ModelEntry;

// What a handler knows of its call. Outlives the handler.
class CallContext {
 public:
  virtual ~CallContext() = default;

  // Guards what the handler shares with other threads than that of the call.
  Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }

  // Makes the call's thread call Handler::Continue() again. Any thread may call
  // WakeAfterStep(), with mutex() held: without the lock the call could end
  // between a change and the announcement of the change. Returns at once. The
  // call's thread wakes up when all inputs have been started and the engine's
  // step has ended, so a step wakes each thread once.
  virtual void WakeAfterStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;

  // True once the client has gone, or the server wants the call to end.
  bool cancelled() const {
    return cancelled_.load(std::memory_order_relaxed) ||
           lifecycle_.cut.load(std::memory_order_relaxed);
  }
  // OK as long as somebody waits for the answer: CANCELLED once cancelled() is
  // true, else DEADLINE_EXCEEDED once the deadline has passed. Nobody else ends
  // the work of a call that waits for no step.
  absl::Status CheckAwaited() const {
    if (cancelled()) return absl::CancelledError("cancelled");
    if (clock_.Now() < deadline_) return absl::OkStatus();
    return absl::DeadlineExceededError("the deadline has passed");
  }
  // The same of a call that has submitted nothing yet, as its client is told:
  // UNAVAILABLE if the server ends the call.
  absl::Status CheckStart() const {
    absl::Status cut = cut_status();
    return cut.ok() ? CheckAwaited() : cut;
  }
  // The error of work for the call. What was given up says CANCELLED, whoever
  // ended the call.
  absl::Status ErrorOf(absl::Status status) const {
    if (!absl::IsCancelled(status)) return status;
    absl::Status ended = CheckAwaited();
    return ended.ok() ? status : ended;
  }
  // OK, or why the server ends the call from its side.
  absl::Status cut_status() const {
    return lifecycle_.cut
               ? absl::UnavailableError(
                     "server shuts down: its drain timeout has passed")
               : absl::OkStatus();
  }

  // Says for which model the call is, and by which name it was called: its own
  // or that of an alias. The call's log line and metrics name that
  // model, and the call has a share of it to its end. Called in
  // Handler::Start(). The tenant may use what it called.
  void SetModel(std::shared_ptr<const ModelEntry> model,
                absl::string_view called);
  // Null: not known yet.
  const ModelEntry* model() const { return model_.get(); }
  // The name by which model() was called.
  const std::string& called() const { return called_; }

  // The call may not take longer than until `deadline`. Called in
  // Handler::Start().
  void ShortenDeadline(absl::Time deadline) {
    deadline_ = std::min(deadline_, deadline);
  }

  // Templates render its conversations, or grammars hold its output: a process
  // does that, and may take seconds (Sandbox). So the inputs are started by
  // threads that nobody else waits for. Called in Handler::Start().
  void UseSandbox() { uses_sandbox_ = true; }

  // The engine computes inputs of the call, so a server that drains waits for
  // its end. Called in Handler::Start().
  void UseEngine() { uses_engine_ = true; }

  // The thought with which the answer to the call's first input may begin.
  // Set before the input is submitted, so that it is constant once there is
  // output.
  void set_thought(Thought thought) { thought_ = std::move(thought); }
  const Thought& thought() const { return thought_; }

  // What the call records for its trace. Used with mutex() held while inputs
  // run.
  CallTrace& trace() { return trace_; }

  const std::string& request_id() const { return request_id_; }
  absl::Time arrival() const { return arrival_; }
  absl::Time deadline() const { return deadline_; }
  const Tenant& tenant() const { return tenant_; }
  // EngineRequest::cache_salt of requests that name none: of each tenant
  // another. 0 without a file of tenants, where all share what is cached.
  uint64_t cache_salt() const { return cache_salt_; }
  // The account of the tenant that made the call. Without a file of tenants:
  // TenantAccount::OfEverybody().
  TenantAccount& account() const { return *account_; }

 protected:
  CallContext(const Lifecycle& lifecycle, const Clock& clock)
      : lifecycle_(lifecycle), clock_(clock) {}

  const Lifecycle& lifecycle_;
  const Clock& clock_;
  Mutex mutex_;
  std::atomic<bool> cancelled_{false};
  bool uses_sandbox_ = false;
  bool uses_engine_ = false;
  std::shared_ptr<const ModelEntry> model_;  // null: not known yet, or none
  std::string called_;
  std::string request_id_;
  CallTrace trace_;
  Thought thought_;
  absl::Time arrival_;
  absl::Time deadline_ = absl::InfiniteFuture();
  Tenant tenant_;
  uint64_t cache_salt_ = 0;
  std::shared_ptr<TenantAccount> account_ = TenantAccount::OfEverybody();
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_
