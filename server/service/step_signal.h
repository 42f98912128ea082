#ifndef ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
#define ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_

#include <functional>
#include <map>
#include <utility>

#include "engine/tensor/mutex.h"

namespace attend {

// Tells the ports that a worker has ended a step. Schedulers exist before the
// ports do, so the ports connect to the signal later. Thread-safe.
class StepSignal {
 public:
  // To be called when a step has ended. Calls the receivers on the caller's
  // thread.
  void Notify() {
    MutexLock lock(mutex_);
    for (const auto& [owner, receive] : receivers_) receive();
  }
  // Adds a receiver, which is called until `owner` disconnects.
  void Connect(const void* owner, std::function<void()> receive) {
    MutexLock lock(mutex_);
    receivers_.insert_or_assign(owner, std::move(receive));
  }
  // After the return the receiver of `owner` is not called any more.
  void Disconnect(const void* owner) {
    MutexLock lock(mutex_);
    receivers_.erase(owner);
  }

 private:
  Mutex mutex_;
  std::map<const void*, std::function<void()>> receivers_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
