#ifndef ATTEND_CLIENT_CPP_LIB_RETRY_H_
#define ATTEND_CLIENT_CPP_LIB_RETRY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// What is known of a call that failed before its first message.
struct FailedAttempt {
  int attempts = 1;  // made so far, this one included
  absl::StatusCode code = absl::StatusCode::kOk;
  // The server's grpc-retry-pushback-ms; negative: "do not retry".
  std::optional<absl::Duration> pushback = {};
  absl::Duration remaining = {};  // until the call's deadline
};

// Decides whether and when a failed call is made again. Pure: randomness is
// passed in. The form is gRPC's own (proposal A6), but here a call counts as
// begun with its first message, not with its headers: a server that echoes a
// request id sends headers with every error.
struct RetryPolicy {
  // Attempts at most, the first included. More: fewer errors seen while a
  // server restarts, and later news of a server that is gone.
  int max_attempts = 4;
  absl::Duration initial_backoff = absl::Milliseconds(100);  // doubles
  absl::Duration max_backoff = absl::Seconds(2);

  // The pause before the next attempt, or nothing: the failure stands.
  // UNAVAILABLE is tried again, and RESOURCE_EXHAUSTED if the server says when.
  // A pause of our own is spread by `random` of [0, 1) over 0.8 to 1.2 of it.
  std::optional<absl::Duration> Pause(const FailedAttempt& failed,
                                      double random) const;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_RETRY_H_
