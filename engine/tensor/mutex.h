#ifndef ATTEND_ENGINE_TENSOR_MUTEX_H_
#define ATTEND_ENGINE_TENSOR_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace attend {

// A std::mutex with clang's thread-safety annotations (-Wthread-safety, preset
// `fuzz`): every access to a field with ABSL_GUARDED_BY(mutex_) must hold
// mutex_.
//
// Not an absl::Mutex, because ThreadSanitizer understands a std::mutex without
// annotations in the distribution's Abseil.
class ABSL_LOCKABLE Mutex : private std::mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { std::mutex::lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { std::mutex::unlock(); }

 private:
  friend class MutexLock;
};

// Holds a mutex for its lifetime. A std::condition_variable can wait with it;
// the predicate is a lambda that declares the mutex:
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
