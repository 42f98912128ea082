#include "server/scheduler/drain_rate.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

constexpr double kSpread = 0.25;
// The multiples of this number modulo 1 are evenly spread, however many there
// are (Weyl 1916).
constexpr double kGolden = 0.6180339887498949;

}  // namespace

void DrainRate::Advance(absl::Time now) {
  if (last_ == absl::InfinitePast()) last_ = now;
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - last_));
  last_ = std::max(last_, now);
  if (!busy_) return;
  const double memory = absl::ToDoubleSeconds(kMemory);
  const double kept = std::exp(-seconds / memory);
  finished_ *= kept;
  busy_seconds_ = busy_seconds_ * kept + memory * (1 - kept);
}

void DrainRate::OnBusy(absl::Time now) {
  Advance(now);
  busy_ = true;
}

void DrainRate::OnIdle(absl::Time now) {
  Advance(now);
  busy_ = false;
}

void DrainRate::OnFinished(absl::Time now) {
  Advance(now);
  finished_ += 1;
}

absl::Duration DrainRate::RetryAfter(int waiting, absl::Time now) {
  Advance(now);
  turn_ += kGolden;
  turn_ -= std::floor(turn_);
  const double seconds = finished_ > 0 ? waiting * busy_seconds_ / finished_
                                       : std::max(1.0, busy_seconds_);
  // The result stays within its bounds after spreading, and results at a bound
  // are spread too.
  const double least = absl::ToDoubleSeconds(kMinRetry) / (1 - kSpread);
  const double most = absl::ToDoubleSeconds(kMaxRetry) / (1 + kSpread);
  const double factor = 1 + kSpread * (2 * turn_ - 1);
  return absl::Ceil(absl::Seconds(std::clamp(seconds, least, most) * factor),
                    absl::Milliseconds(1));
}

}  // namespace attend
