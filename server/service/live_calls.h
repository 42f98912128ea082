#ifndef ATTEND_SERVER_SERVICE_LIVE_CALLS_H_
#define ATTEND_SERVER_SERVICE_LIVE_CALLS_H_

#include <algorithm>
#include <condition_variable>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// Counts calls, so that a thread can wait for their end. gRPC's own shutdown
// waits for connections only, and calls may outlive their connections.
// Thread-safe.
class LiveCalls {
 public:
  // Counts one call for as long as the entry lives.
  class Entry {
   public:
    explicit Entry(LiveCalls& calls) : calls_(calls) { calls_.Add(1); }
    ~Entry() { calls_.Add(-1); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    LiveCalls& calls_;
  };

  // Returns when no entry lives.
  void WaitForNone() {
    MutexLock lock(mutex_);
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return count_ == 0;
    });
  }
  // Returns true when no entry lives, and false once `timeout` has passed.
  bool WaitForNone(absl::Duration timeout) {
    MutexLock lock(mutex_);
    // The clock's range ends at some 292 years.
    return changed_.wait_for(
        lock, absl::ToChronoNanoseconds(std::min(timeout, kMaxTimeout)),
        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return count_ == 0; });
  }

 private:
  static constexpr absl::Duration kMaxTimeout = absl::Hours(24 * 365);

  void Add(int change) {
    MutexLock lock(mutex_);
    count_ += change;
    if (count_ == 0) changed_.notify_all();
  }

  Mutex mutex_;
  std::condition_variable changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_LIVE_CALLS_H_
