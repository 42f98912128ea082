#include "server/tenants/rate_bucket.h"

#include <algorithm>

namespace attend {
namespace {

// Sums of times are inexact: an amount counts as there if less than this is
// missing.
constexpr double kNothing = 1e-6;
// Threads may call in another order than that of their times. A time further
// back than this means that the clock was set.
constexpr absl::Duration kDisorder = absl::Seconds(1);

}  // namespace

void RateBucket::Advance(absl::Time now) {
  if (now < last_ - kDisorder) last_ = now;
  if (now <= last_) return;
  level_ =
      std::min(limit_.burst,
               level_ + limit_.per_second * absl::ToDoubleSeconds(now - last_));
  last_ = now;
}

void RateBucket::SetLimit(const RateLimit& limit, absl::Time now) {
  Advance(now);
  limit_ = limit;
  level_ = std::min(level_, limit.burst);
}

absl::Duration RateBucket::Wait(double amount, absl::Time now) {
  Advance(now);
  const double missing = std::min(amount, limit_.burst) - level_;
  if (missing <= kNothing) return absl::ZeroDuration();
  return absl::Ceil(absl::Seconds(missing / limit_.per_second),
                    absl::Milliseconds(1));
}

void RateBucket::Take(double amount, absl::Time now) {
  Advance(now);
  level_ -= amount;
}

}  // namespace attend
