#ifndef ATTEND_CLIENT_CPP_LIB_RETRY_H_
#define ATTEND_CLIENT_CPP_LIB_RETRY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// What RetryPolicy has to know of a call that failed.
struct FailedAttempt {
  int attempts = 1;  // how many were made, the failed one included
  absl::StatusCode code = absl::StatusCode::kOk;
  // When the server wants to see it again: grpc-retry-pushback-ms as it was
  // sent, else RetryInfo. Negative: "do not retry".
  std::optional<absl::Duration> pushback = {};
  absl::Duration remaining = {};  // until the call's deadline
};

// Decides whether and when a failed call is made again. The rules are those of
// gRPC (proposal A6), with one difference: gRPC does not retry after the
// headers, and a server that echoes request ids sends headers with every error.
// A pure function of its arguments: the caller passes a random number.
struct RetryPolicy {
  // The most attempts, the first included. Higher: fewer errors while a server
  // restarts, but a server that is gone is noticed later.
  int max_attempts = 4;
  absl::Duration initial_backoff = absl::Milliseconds(100);  // doubles
  absl::Duration max_backoff = absl::Seconds(2);

  // The pause before the next attempt. nullopt: there is no next attempt, and
  // the call fails. UNAVAILABLE is retried. RESOURCE_EXHAUSTED is retried if
  // the server says when. `random`, in [0, 1), multiplies a pause that the
  // server did not name by 0.8 to 1.2.
  std::optional<absl::Duration> Pause(const FailedAttempt& failed,
                                      double random) const;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_RETRY_H_
