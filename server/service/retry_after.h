#ifndef ATTEND_SERVER_SERVICE_RETRY_AFTER_H_
#define ATTEND_SERVER_SERVICE_RETRY_AFTER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "attend/v1/status_details.pb.h"

namespace attend {

// The retry hint of a status (the payload kRetryAfterUrl), if it has one.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);

// The hint as clients read it, whatever the protocol.
v1::RetryInfo RetryInfoOf(absl::Duration delay);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_RETRY_AFTER_H_
