#ifndef ATTEND_SERVER_SCHEDULER_DRAIN_RATE_H_
#define ATTEND_SERVER_SCHEDULER_DRAIN_RATE_H_

#include "absl/time/time.h"

namespace attend {

// How fast requests come to their ends, and so when a caller who found the
// queue full should come back. What happened kMemory ago counts a third; time
// in which there was nothing to do does not count. A time before the
// last one counts as the last one. Not
// thread-safe.
class DrainRate {
 public:
  static constexpr absl::Duration kMemory = absl::Seconds(10);
  static constexpr absl::Duration kMinRetry = absl::Milliseconds(10);
  static constexpr absl::Duration kMaxRetry = absl::Seconds(30);

  // From `now` on there is work, or there is none any more.
  void OnBusy(absl::Time now);
  void OnIdle(absl::Time now);
  // A request has ended, well or not.
  void OnFinished(absl::Time now);

  // The time that `waiting` requests take to leave at this rate, times 0.75 to
  // 1.25: those who are refused together get different times, evenly spread.
  // While nothing has ended yet: as long as that has taken, 1 s at least. In
  // [kMinRetry, kMaxRetry].
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
