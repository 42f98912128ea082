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

v1::RetryInfo RetryInfoOf(absl::Duration delay) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(
      absl::IDivDuration(delay, absl::Seconds(1), &delay));
  info.mutable_retry_delay()->set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(delay)));
  return info;
}

}  // namespace attend
