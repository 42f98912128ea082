#include "server/service/retry_after.h"

#include <string>

#include "absl/strings/cord.h"
#include "server/scheduler/request.h"

namespace attend {

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryAfterUrl);
  absl::Duration delay;
  if (!payload || !absl::ParseDuration(std::string(*payload), &delay)) {
    return std::nullopt;
  }
  return delay;
}

}  // namespace attend
