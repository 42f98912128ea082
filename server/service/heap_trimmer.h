#ifndef ATTEND_SERVER_SERVICE_HEAP_TRIMMER_H_
#define ATTEND_SERVER_SERVICE_HEAP_TRIMMER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// Gives memory back to the system after large requests. What they took lies
// between small blocks that stay, so malloc keeps it: up to 64 MiB in the heap
// of each thread that worked on them. Thread-safe.
class HeapTrimmer {
 public:
  // Requests of at least so many bytes together are worth a trim.
  static constexpr int64_t kWorthwhileBytes = 4 << 20;

  // `pause`: from the request that makes a trim worthwhile to the trim. `trim`
  // is called in a thread of the trimmer's, once for all requests of a pause.
  HeapTrimmer(absl::Duration pause, std::function<void()> trim);
  // Does not wait for the pause.
  ~HeapTrimmer();
  HeapTrimmer(const HeapTrimmer&) = delete;
  HeapTrimmer& operator=(const HeapTrimmer&) = delete;

  // A request of so many bytes has gone.
  void Freed(int64_t bytes);

 private:
  void RunThread();

  const absl::Duration pause_;
  const std::function<void()> trim_;
  Mutex mutex_;
  std::condition_variable changed_;
  int64_t freed_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last trim
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_HEAP_TRIMMER_H_
