#ifndef ATTEND_ENGINE_TENSOR_MUTEX_H_
#define ATTEND_ENGINE_TENSOR_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace attend {

// A std::mutex for which clang checks (-Wthread-safety, preset `fuzz`) that
// whoever reads or writes a field that it guards holds it. Such fields have
// ABSL_GUARDED_BY(mutex_).
//
// Not an absl::Mutex: thread sanitizers see a std::mutex without annotations in
// the distribution's Abseil.
class ABSL_LOCKABLE Mutex : private std::mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { std::mutex::lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { std::mutex::unlock(); }

 private:
  friend class MutexLock;
};

// Holds a mutex from its construction to its end. A std::condition_variable
// waits with it; what it waits for is a lambda that says what it needs:
//   changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
//     return done_;
//   });
class ABSL_SCOPED_LOCKABLE MutexLock : public std::unique_lock<std::mutex> {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : std::unique_lock<std::mutex>(mutex) {}
  ~MutexLock() ABSL_UNLOCK_FUNCTION() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { unique_lock::lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { unique_lock::unlock(); }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_MUTEX_H_
