#ifndef ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
#define ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/scheduler/drain_rate.h"
#include "server/scheduler/request.h"

namespace attend {

// The bounded waiting room between Scheduler::Submit() and the worker.
//
// The requests of one tenant and the requests of all tenants may together be
// twice the bound. Therefore a lone tenant may fill the bound, several tenants
// together may wait with somewhat more, and a newly come tenant finds a place
// in a queue that others have filled, as long as fewer than about ten tenants
// fill it.
//
// The queue owns requests from Push() to Take(). A request that was taken still
// counts as waiting until Depart(), so that the limits hold for all waiting
// requests. The queue also counts the requests that have not ended.
// Thread-safe: any thread may call Push(), Close(), WaitUntilEmpty() and
// depth(); only the worker calls the rest. Never calls a listener.
class RequestQueue {
 public:
  // All tenants together may have this many times as much as a lone tenant.
  static constexpr int kTimesMax = 2;

  struct Depth {
    int requests = 0;
    int64_t tokens = 0;  // source tokens
  };

  // `max_returned`: memory is reserved for this many requests that Return().
  RequestQueue(int max_requests, int64_t max_tokens, int max_returned = 0);

  // Sets the request's arrival time. Takes the request iff Push() returns OK.
  // RESOURCE_EXHAUSTED, with the payload kRetryAfterUrl, if there is no room;
  // also with kTenantLimitUrl if it is the tenant's own limit that is reached.
  // UNAVAILABLE after Close().
  absl::Status Push(std::unique_ptr<Request>& request, absl::Time now);

  // Blocks until a request has arrived, or not at all if `busy`. False after
  // Close().
  bool WaitForWork(bool busy);
  // Swaps the requests that have arrived, in order, with `arrivals`, which must
  // be empty.
  void Take(std::vector<std::unique_ptr<Request>>& arrivals);
  // A request has left the waiting room, to run or to end.
  void Depart(const Request& request);
  // A preempted request waits again. The request is counted, but never refused.
  void Return(const Request& request);
  // The listener of a request got its last call.
  void Finish(absl::Time now);

  // From now on Push() takes nothing, and WaitForWork() returns false.
  void Close();

  // True when every request has ended; false if `timeout` passed first.
  bool WaitUntilEmpty(absl::Duration timeout) const;
  Depth depth() const;

 private:
  // What a tenant has in the queue.
  struct Held {
    uint64_t tenant = 0;
    Depth depth;
  };

  // Its place in held_, or null.
  Held* Find(const Tenant& tenant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // OK if there is a place for a request of a tenant that has `held`.
  absl::Status CheckPlace(const Request& request, const Depth& held) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enter(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int max_requests_;
  const int64_t max_tokens_;

  mutable Mutex mutex_;
  std::condition_variable arrived_;
  mutable std::condition_variable empty_;
  std::vector<std::unique_ptr<Request>> arrivals_ ABSL_GUARDED_BY(mutex_);
  Depth depth_ ABSL_GUARDED_BY(mutex_);
  // Of tenants that have something.
  std::vector<Held> held_ ABSL_GUARDED_BY(mutex_);
  int unfinished_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  DrainRate rate_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
