#include "client/cpp/lib/retry.h"

#include <algorithm>
#include <cmath>

namespace attend {

std::optional<absl::Duration> RetryPolicy::Pause(const FailedAttempt& failed,
                                                 double random) const {
  if (failed.attempts >= max_attempts) return std::nullopt;
  const bool unavailable = failed.code == absl::StatusCode::kUnavailable;
  // Without the server's hint RESOURCE_EXHAUSTED may be permanent: a message
  // that is too large, for instance.
  const bool full = failed.code == absl::StatusCode::kResourceExhausted &&
                    failed.pushback.has_value();
  if (!unavailable && !full) return std::nullopt;

  absl::Duration pause;
  if (failed.pushback.has_value()) {
    if (*failed.pushback < absl::ZeroDuration()) return std::nullopt;
    pause = *failed.pushback;
  } else {
    pause = std::min(max_backoff,
                     initial_backoff * std::exp2(failed.attempts - 1)) *
            (0.8 + 0.4 * random);
  }
  if (pause >= failed.remaining) return std::nullopt;
  return pause;
}

}  // namespace attend
