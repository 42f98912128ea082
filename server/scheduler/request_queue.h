#ifndef ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
#define ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/scheduler/request.h"

namespace attend {

// The bounded waiting room between those who submit and the worker, and the
// count of all that is under way. Owns requests from Push() to Take(); a taken
// one still counts as waiting until Depart(), so that the bounds hold for all
// that waits. Thread-safe; Push(), Drain(), Close(), WaitUntilEmpty() and
// depth() may be called by anybody, the rest by the one worker.
// Never calls a listener.
//
// A std::mutex, not an absl::Mutex: thread sanitizers see it without
// annotations in the distribution's Abseil.
class RequestQueue {
 public:
  struct Depth {
    int requests = 0;
    int64_t tokens = 0;  // source tokens
  };

  RequestQueue(int max_requests, int64_t max_tokens);

  // Sets the arrival and takes the request iff it returns OK. Else
  // RESOURCE_EXHAUSTED with kRetryAfterUrl, or UNAVAILABLE after Drain().
  absl::Status Push(std::unique_ptr<Request>& request, absl::Time now);

  // Blocks until something arrived, unless `busy`. False after Close().
  bool WaitForWork(bool busy);
  // Swaps what arrived, in order, with `arrivals`, which must be empty.
  void Take(std::vector<std::unique_ptr<Request>>& arrivals);
  // A request left the waiting room, to run or for good.
  void Depart(const Request& request, absl::Time now);
  // A preempted one is back: counted, never refused.
  void Return(const Request& request);
  // A request got its last call.
  void Finish();

  void Drain();
  bool draining() const;
  // Drains, and makes WaitForWork() return false.
  void Close();

  // True when every pushed request is finished; false if `timeout` passed.
  bool WaitUntilEmpty(absl::Duration timeout) const;
  Depth depth() const;

 private:
  // When a refused caller may try again: when the queue will have been worked
  // off, as fast as it was lately.
  absl::Duration RetryAfter() const;

  const int max_requests_;
  const int64_t max_tokens_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::condition_variable arrived_;
  mutable std::condition_variable empty_;
  std::vector<std::unique_ptr<Request>> arrivals_;
  Depth depth_;
  int unfinished_ = 0;
  bool draining_ = false;
  bool closed_ = false;
  // Seconds between departures while somebody waited; 0: not known yet.
  double departure_seconds_ = 0;
  absl::Time last_departure_ = absl::InfinitePast();
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_REQUEST_QUEUE_H_
