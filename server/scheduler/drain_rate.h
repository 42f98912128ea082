#ifndef ATTEND_SERVER_SCHEDULER_DRAIN_RATE_H_
#define ATTEND_SERVER_SCHEDULER_DRAIN_RATE_H_

#include "absl/time/time.h"

namespace attend {

// How many requests end in a second, from which follows when a caller who found
// the queue full should try again. What happened kMemory ago counts about a
// third of what happens now. Time in which there was no work does not count. If
// the clock goes back, the last time counts. Not thread-safe.
class DrainRate {
 public:
  static constexpr absl::Duration kMemory = absl::Seconds(10);
  static constexpr absl::Duration kMinRetry = absl::Milliseconds(10);
  static constexpr absl::Duration kMaxRetry = absl::Seconds(30);

  // OnBusy(): from `now` on there is work. OnIdle(): from `now` on there is
  // none.
  void OnBusy(absl::Time now);
  void OnIdle(absl::Time now);
  // A request has ended, with success or with an error.
  void OnFinished(absl::Time now);

  // The time that `waiting` requests take to end at this rate, times a factor
  // of 0.75 to 1.25. The factors of successive calls are evenly spread, so that
  // callers who are refused together do not return together. As long as no
  // request has ended, the result is the time for which there has been work, at
  // least 1 s. The result is in [kMinRetry, kMaxRetry].
  absl::Duration RetryAfter(int waiting, absl::Time now);

 private:
  // Forgets, up to `now`.
  void Advance(absl::Time now);

  bool busy_ = false;
  absl::Time last_ = absl::InfinitePast();
  // Both forgotten alike, so that their quotient is the rate.
  double finished_ = 0;
  double busy_seconds_ = 0;
  double turn_ = 0;  // where in its interval the next spread lies, in [0, 1)
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_DRAIN_RATE_H_
