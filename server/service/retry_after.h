#ifndef ATTEND_SERVER_SERVICE_RETRY_AFTER_H_
#define ATTEND_SERVER_SERVICE_RETRY_AFTER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// The retry hint of a status (the payload kRetryAfterUrl), if it has one.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_RETRY_AFTER_H_
