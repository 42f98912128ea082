#ifndef ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_
#define ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_

#include <atomic>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

struct ModelEntry;

// What the calls of one server share about its end.
struct Lifecycle {
  std::atomic<bool> draining{false};  // new calls are refused
  std::atomic<bool> cut{false};       // running ones too: drain took too long
};

// A call as the work behind it sees it. Outlives its handler.
class CallContext {
 public:
  virtual ~CallContext() = default;

  // Guards what the handler shares with threads other than the call's.
  std::mutex& mutex() { return mutex_; }

  // Makes the call's thread look at its handler again; with mutex() held: only
  // so can the call not end between a change and its announcement. Waits for
  // the end of Start(), and then of the engine's step, so that a step wakes
  // each thread once.
  virtual void WakeAfterStep() = 0;

  // True once the client has gone, or the server wants the call to end.
  bool cancelled() const {
    return cancelled_.load(std::memory_order_relaxed) ||
           lifecycle_.cut.load(std::memory_order_relaxed);
  }
  // OK, or why the server ends the call from its side.
  absl::Status cut_status() const {
    return lifecycle_.cut
               ? absl::UnavailableError(
                     "server shuts down: its drain timeout has passed")
               : absl::OkStatus();
  }

  // The model that the call is for, once it is known: its log line and its
  // metrics name it. Set in Start().
  void set_model(const ModelEntry& model) { model_ = &model; }

  const std::string& request_id() const { return request_id_; }
  absl::Time arrival() const { return arrival_; }
  absl::Time deadline() const { return deadline_; }

 protected:
  explicit CallContext(const Lifecycle& lifecycle) : lifecycle_(lifecycle) {}

  const Lifecycle& lifecycle_;
  std::mutex mutex_;
  std::atomic<bool> cancelled_{false};
  const ModelEntry* model_ = nullptr;  // null: not known, or none
  std::string request_id_;
  absl::Time arrival_;
  absl::Time deadline_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CALL_CONTEXT_H_
