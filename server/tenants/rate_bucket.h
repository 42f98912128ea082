#ifndef ATTEND_SERVER_TENANTS_RATE_BUCKET_H_
#define ATTEND_SERVER_TENANTS_RATE_BUCKET_H_

#include "absl/time/time.h"

namespace attend {

// So many a second, and after a pause so many at once. Both above 0.
struct RateLimit {
  double per_second = 0;
  double burst = 0;
};

// A bucket that fills at the rate of a limit, up to its burst: at first it is
// full. More may be taken than is in it; who comes later then waits until the
// debt is paid, so the rate holds however much is taken at once. A time up to a
// second before the last one counts as the last one; from an earlier time on it
// fills anew: the clock was set. Not thread-safe.
class RateBucket {
 public:
  RateBucket(const RateLimit& limit, absl::Time now)
      : limit_(limit), level_(limit.burst), last_(now) {}

  const RateLimit& limit() const { return limit_; }
  // Another limit from now on. What is in the bucket stays, up to the burst,
  // and so does a debt.
  void SetLimit(const RateLimit& limit, absl::Time now);

  // The time until `amount` is in it, or until it is full if that comes first;
  // zero: it is now. In whole milliseconds, rounded up.
  absl::Duration Wait(double amount, absl::Time now);
  void Take(double amount, absl::Time now);

 private:
  // Fills it up to `now`.
  void Advance(absl::Time now);

  RateLimit limit_;
  double level_;  // below 0: a debt
  absl::Time last_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_RATE_BUCKET_H_
