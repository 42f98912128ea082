#ifndef ATTEND_SERVER_TENANTS_RATE_BUCKET_H_
#define ATTEND_SERVER_TENANTS_RATE_BUCKET_H_

#include "absl/time/time.h"

namespace attend {

// A limit of calls or tokens: `per_second` on average, and `burst` at once
// after a pause. Both are above 0.
struct RateLimit {
  double per_second = 0;
  double burst = 0;
};

// A bucket that fills at the rate of a limit, up to the limit's burst. A new
// bucket is full. More may be taken than the bucket holds; later callers then
// wait until the debt is paid, so the rate holds however much is taken at once.
//
// A time up to a second before the last one counts as the last one, because
// threads may call in another order. A still earlier time means that somebody
// has set the clock: the bucket fills from the new time on. Not thread-safe.
class RateBucket {
 public:
  RateBucket(const RateLimit& limit, absl::Time now)
      : limit_(limit), level_(limit.burst), last_(now) {}

  const RateLimit& limit() const { return limit_; }
  // Uses another limit from now on. The contents stay, up to the new burst, and
  // a debt stays.
  void SetLimit(const RateLimit& limit, absl::Time now);

  // The time until the bucket holds `amount`, or is full if that comes first.
  // Zero: it does already. In whole milliseconds, rounded up.
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
