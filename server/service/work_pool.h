#ifndef ATTEND_SERVER_SERVICE_WORK_POOL_H_
#define ATTEND_SERVER_SERVICE_WORK_POOL_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace attend {

// Work on at most this many bytes of text is short.
inline constexpr size_t kShortWork = 16 << 10;

// Threads for work that is too long for the thread of a port: tokenising, and
// what goes with tokenising. The queue of the pool is bounded. Thread-safe. The
// destructor runs all work that was accepted.
//
// Short work goes first: each byte of text counts like a microsecond by which
// the work came later, so no work waits for ever. Work that runs is not
// interrupted. Therefore one thread, if there are several, takes short work
// only.
class WorkPool {
 public:
  // Throws std::system_error if the system gives no more threads.
  WorkPool(int threads, int max_queued);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // `bytes`: about how much text there is to work on. RESOURCE_EXHAUSTED if the
  // queue is full; then `work` will not run.
  absl::Status Submit(size_t bytes, std::function<void()> work);
  // Submits the rest of work that was accepted before. Called on a thread of
  // the pool. Never refused.
  void Continue(size_t bytes, std::function<void()> work);

 private:
  // Without threads.
  explicit WorkPool(int max_queued) : max_queued_(max_queued) {}

  // By the time from which on they go before whatever comes.
  using Queue = std::multimap<std::chrono::steady_clock::time_point,
                              std::function<void()>>;

  // These with mutex_ held.
  void Add(size_t bytes, std::function<void()> work);
  // Where the next work is; it may be empty.
  Queue& Next(bool short_only);

  void RunThread(bool short_only);

  const size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Queue short_, long_;   // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_WORK_POOL_H_
