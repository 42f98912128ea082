#ifndef ATTEND_SERVER_SERVICE_WORK_POOL_H_
#define ATTEND_SERVER_SERVICE_WORK_POOL_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "engine/tensor/mutex.h"
#include "server/scheduler/request.h"

namespace attend {

// Work on at most this many bytes of text is short.
inline constexpr size_t kShortWork = 16 << 10;

// Threads for work that is too long for the thread of a port: tokenising, and
// what goes with tokenising. The queue of the pool is bounded. Thread-safe. The
// destructor runs all work that was accepted.
//
// Tenants share the threads by weight: next is the tenant that was given least
// bytes of work for its weight, whatever others have waiting. One that comes
// anew counts as given the least of those that are there, so being idle earns
// nothing; one that has no work left is forgotten.
//
// Within a tenant short work goes first: each byte is a microsecond of waiting,
// so that nothing waits for ever. What runs is not interrupted; so, where there
// are several threads, one of them takes short work only.
class WorkPool {
 public:
  // What a tenant has in the queue and all that is in the queue may together be
  // so many times the limit, as in a RequestQueue: one alone fills the limit,
  // and others still find places.
  static constexpr int kTimesMax = 2;

  // std::system_error if the system gives no more threads.
  WorkPool(int threads, int max_queued);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // `bytes`: about how much text there is to work on. RESOURCE_EXHAUSTED if too
  // much waits; then `work` will not run.
  absl::Status Submit(const Tenant& tenant, size_t bytes,
                      std::function<void()> work);
  // More work of what was accepted, for a thread of the pool: never refused.
  void Continue(const Tenant& tenant, size_t bytes, std::function<void()> work);

 private:
  // Without threads.
  explicit WorkPool(int max_queued) : max_queued_(max_queued) {}

  struct Work {
    size_t bytes = 0;
    std::function<void()> run;
  };
  // By the time from which on they go before whatever comes.
  using Queue = std::multimap<std::chrono::steady_clock::time_point, Work>;
  struct Share {
    int queued() const {
      return static_cast<int>(short_.size() + long_.size());
    }

    uint64_t tenant = 0;
    int weight = 1;
    double given = 0;  // bytes by weight
    Queue short_, long_;
    int running = 0;
  };

  void Add(const Tenant& tenant, size_t bytes, std::function<void()> work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What a tenant that comes anew counts as given.
  double Floor() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Where the next work of a tenant is; it may be empty.
  static Queue& NextOf(Share& share, bool short_only);
  // Whose work is next; null: there is none.
  Share* Next(bool short_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Share& share) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void RunThread(bool short_only);

  const int max_queued_;
  Mutex mutex_;
  std::condition_variable changed_;
  int queued_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of those who have work that waits or runs.
  std::unordered_map<uint64_t, Share> shares_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_WORK_POOL_H_
