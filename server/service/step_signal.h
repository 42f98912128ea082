#ifndef ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
#define ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_

#include <functional>
#include <mutex>
#include <utility>

namespace attend {

// Tells a port that a worker has ended a step. The schedulers are made before
// the port, so the port connects itself later. Thread-safe.
class StepSignal {
 public:
  // A step has ended. Calls the receiver, if there is one, on this thread.
  void Notify() {
    std::lock_guard lock(mutex_);
    if (receiver_) receiver_();
  }
  // Sets the receiver; null: none. When this returns, the earlier receiver is
  // not called any more.
  void Connect(std::function<void()> receiver) {
    std::lock_guard lock(mutex_);
    receiver_ = std::move(receiver);
  }

 private:
  std::mutex mutex_;
  std::function<void()> receiver_;  // guarded by mutex_
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
