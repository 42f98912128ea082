#ifndef ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
#define ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_

#include <functional>
#include <utility>

#include "engine/tensor/mutex.h"

namespace attend {

// Tells a port that a worker has ended a step. Schedulers exist before the port
// does, so the port connects to the signal later. Thread-safe.
class StepSignal {
 public:
  // To be called when a step has ended. Calls the receiver, if there is one, on
  // the caller's thread.
  void Notify() {
    MutexLock lock(mutex_);
    if (receiver_) receiver_();
  }
  // Sets the receiver; null: no receiver. After Connect() has returned, the
  // earlier receiver is not called any more.
  void Connect(std::function<void()> receiver) {
    MutexLock lock(mutex_);
    receiver_ = std::move(receiver);
  }

 private:
  Mutex mutex_;
  std::function<void()> receiver_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
