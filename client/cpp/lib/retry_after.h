#ifndef ATTEND_CLIENT_CPP_LIB_RETRY_AFTER_H_
#define ATTEND_CLIENT_CPP_LIB_RETRY_AFTER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// Returns the time after which the server wants a retry of a call that failed
// with this status. nullopt: the server gave none.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);

// Lets RetryAfter() find the time, in a google.rpc.RetryInfo that the status
// carries as its payload "type.googleapis.com/google.rpc.RetryInfo".
void SetRetryAfter(absl::Duration time, absl::Status& status);

// The time that a google.rpc.Status says in its details; these are its bytes,
// as the trailer grpc-status-details-bin has them. nullopt: none, or not that.
std::optional<absl::Duration> RetryAfterInDetails(const std::string& bytes);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_RETRY_AFTER_H_
