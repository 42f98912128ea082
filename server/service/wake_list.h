#ifndef ATTEND_SERVER_SERVICE_WAKE_LIST_H_
#define ATTEND_SERVER_SERVICE_WAKE_LIST_H_

#include <utility>

#include "engine/tensor/mutex.h"

namespace attend {

// Something that other threads can wake on the thread that it belongs to.
class Wakeable {
 public:
  virtual ~Wakeable() = default;
  // Called on that thread: once after one or more calls of WakeList::Add().
  virtual void OnWake() = 0;

 private:
  friend class WakeList;
  // Guarded by the list's mutex. A list through its members needs no memory, so
  // that to wake never fails.
  bool woken_ = false;
  Wakeable* next_woken_ = nullptr;
};

// The objects of a thread that are to be woken. The owner of the list makes the
// thread run it. Any thread may call any function but Run(), which is the
// thread's.
class WakeList {
 public:
  void Add(Wakeable& wakeable) {
    MutexLock lock(mutex_);
    if (std::exchange(wakeable.woken_, true)) return;
    (first_ == nullptr ? first_ : last_->next_woken_) = &wakeable;
    last_ = &wakeable;
  }
  bool empty() {
    MutexLock lock(mutex_);
    return first_ == nullptr;
  }
  // Whether OnWake() is still to come. Such an object must not be destroyed.
  bool Contains(const Wakeable& wakeable) {
    MutexLock lock(mutex_);
    return wakeable.woken_;
  }
  // Wakes all objects that are in the list, in the order in which they came.
  // They may destroy themselves.
  void Run() {
    Wakeable* next = nullptr;
    {
      MutexLock lock(mutex_);
      next = std::exchange(first_, nullptr);
    }
    while (next != nullptr) {
      Wakeable& wakeable = *next;
      {
        // The flag is cleared just before OnWake(): until then Contains() is
        // true, and what is woken does not destroy itself.
        MutexLock lock(mutex_);
        next = std::exchange(wakeable.next_woken_, nullptr);
        wakeable.woken_ = false;
      }
      wakeable.OnWake();
    }
  }

 private:
  Mutex mutex_;
  Wakeable* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Wakeable* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_WAKE_LIST_H_
