#ifndef ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_
#define ATTEND_SERVER_SERVICE_STEP_SIGNAL_H_

#include <functional>
#include <mutex>
#include <utility>

namespace attend {

// From the schedulers' workers to the gRPC server: a step has ended. Lets the
// schedulers be made before the server that uses them. Thread-safe.
class StepSignal {
 public:
  void Notify() {
    std::lock_guard lock(mutex_);
    if (receiver_) receiver_();
  }
  // Null: nobody. When it returns the earlier receiver is not called any more.
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
