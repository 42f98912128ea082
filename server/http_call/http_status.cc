#include "server/http_call/http_status.h"

#include <algorithm>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/tensor/out_of_memory.h"
#include "server/scheduler/request.h"
#include "server/service/retry_after.h"

namespace attend {

absl::Status FieldError(absl::string_view field, absl::string_view problem) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(field, " ", problem));
  status.SetPayload(kFieldUrl, absl::Cord(field));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  const auto field = status.GetPayload(kFieldUrl);
  return field ? std::string(*field) : "";
}

absl::Status FailureOf(const v1::Status& status) {
  absl::Status failure(static_cast<absl::StatusCode>(status.code()),
                       status.message());
  // Some of several inputs found no slot in the queue, or no memory.
  if (absl::IsResourceExhausted(failure) && failure != OutOfMemory()) {
    failure.SetPayload(kRetryAfterUrl, absl::Cord("1s"));
  }
  return failure;
}

int ToHttpStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      // Without a time to come again: the server had no memory.
      return RetryAfter(status).has_value() ? 429 : 503;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

absl::StatusCode FromHttpStatus(int status) {
  if (status == 408) return absl::StatusCode::kDeadlineExceeded;
  if (status == 503) return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kInvalidArgument;
}

HttpHeaders StatusHeaders(const absl::Status& status) {
  const std::optional<absl::Duration> delay = RetryAfter(status);
  if (!delay) return {};
  // In whole seconds; the second is what clients of OpenAI read first.
  const int64_t seconds =
      absl::ToInt64Seconds(absl::Ceil(*delay, absl::Seconds(1)));
  return {{"Retry-After", absl::StrCat(std::max<int64_t>(seconds, 1))},
          {"Retry-After-Ms", absl::StrCat(absl::ToInt64Milliseconds(*delay))}};
}

}  // namespace attend
