#ifndef ATTEND_SERVER_SERVICE_WORK_POOL_H_
#define ATTEND_SERVER_SERVICE_WORK_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace attend {

// Threads for work that is too long for the thread of a port, with a
// bounded queue: tokenising, and what goes with it. Thread-safe. The
// destructor runs what was accepted.
class WorkPool {
 public:
  WorkPool(int threads, int max_queued);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // RESOURCE_EXHAUSTED if too much waits; then `work` will not run.
  absl::Status Submit(std::function<void()> work);

 private:
  void RunThread();

  const size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool closed_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_WORK_POOL_H_
