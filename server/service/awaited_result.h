#ifndef ATTEND_SERVER_SERVICE_AWAITED_RESULT_H_
#define ATTEND_SERVER_SERVICE_AWAITED_RESULT_H_

#include <optional>
#include <utility>

#include "engine/tensor/mutex.h"
#include "server/service/call_context.h"

namespace attend {

// What a call waits for, and another thread brings. Both share it, because the
// call may have gone by then. Thread-safe.
template <class T>
class AwaitedResult {
 public:
  // `waiting` is used until the result is set, or the call has left.
  explicit AwaitedResult(CallContext& waiting) : waiting_(&waiting) {}

  // Once. Wakes the call.
  void Set(T result) {
    MutexLock lock(mutex_);
    result_ = std::move(result);
    if (waiting_ == nullptr) return;
    CallContext& waiting = *std::exchange(waiting_, nullptr);
    MutexLock call(waiting.mutex());
    waiting.WakeAfterStep();
  }
  // No value: it has not come yet, or was taken.
  std::optional<T> Take() {
    MutexLock lock(mutex_);
    return std::exchange(result_, std::nullopt);
  }
  // The call waits no more.
  void Leave() {
    MutexLock lock(mutex_);
    waiting_ = nullptr;
  }
  // Whether the call is not used any more.
  bool quiet() {
    MutexLock lock(mutex_);
    return waiting_ == nullptr;
  }

 private:
  Mutex mutex_;
  CallContext* waiting_ ABSL_GUARDED_BY(mutex_);  // null: no more
  std::optional<T> result_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_AWAITED_RESULT_H_
