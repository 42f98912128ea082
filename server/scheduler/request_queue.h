#ifndef ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
#define ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/scheduler/drain_rate.h"
#include "server/scheduler/request.h"

namespace attend {

// The bounded waiting room between Scheduler::Submit() and the worker. What a
// tenant has there, and all that is there, may together be twice the bound: a
// lone tenant fills the bound, several that all come share somewhat more than
// that, and whoever comes to a queue that others have filled finds a place
// while fewer than some ten tenants fill it. The queue also counts the requests
// that have not ended. It owns requests from Push() to
// Take(). A request that was taken still counts as waiting until Depart(), so
// that the limits hold for all waiting requests. Thread-safe: any thread may
// call Push(), Drain(), Close(), WaitUntilEmpty() and depth(); only the worker
// calls the rest. Never calls a listener.
//
// A std::mutex, not an absl::Mutex: thread sanitizers see it without
// annotations in the distribution's Abseil.
class RequestQueue {
 public:
  // All tenants together may have so many times what a lone one may.
  static constexpr int kTimesMax = 2;

  struct Depth {
    int requests = 0;
    int64_t tokens = 0;  // source tokens
  };

  // Has memory for so many requests that return.
  RequestQueue(int max_requests, int64_t max_tokens, int max_returned = 0);

  // Sets the request's arrival time, and takes the request iff it returns OK.
  // Errors: RESOURCE_EXHAUSTED with kRetryAfterUrl, and kTenantLimitUrl if it
  // is the tenant's own limit; UNAVAILABLE after Drain().
  absl::Status Push(std::unique_ptr<Request>& request, absl::Time now);

  // Blocks until a request has arrived, or not at all if `busy`. False after
  // Close().
  bool WaitForWork(bool busy);
  // Swaps the requests that have arrived, in order, with `arrivals`, which must
  // be empty.
  void Take(std::vector<std::unique_ptr<Request>>& arrivals);
  // A request has left the waiting room, to run or to end.
  void Depart(const Request& request);
  // A preempted request waits again: it is counted, but never refused.
  void Return(const Request& request);
  // The listener of a request got its last call.
  void Finish(absl::Time now);

  void Drain();
  bool draining() const;
  // Drains, and makes WaitForWork() return false.
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
  Held* Find(const Tenant& tenant);
  // OK if there is a place for a request of a tenant that has `held`.
  absl::Status CheckPlace(const Request& request, const Depth& held) const;
  void Enter(const Request& request);
  void Leave(const Request& request);

  const int max_requests_;
  const int64_t max_tokens_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::condition_variable arrived_;
  mutable std::condition_variable empty_;
  std::vector<std::unique_ptr<Request>> arrivals_;
  Depth depth_;
  std::vector<Held> held_;  // of tenants that have something
  int unfinished_ = 0;
  bool draining_ = false;
  bool closed_ = false;
  DrainRate rate_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
