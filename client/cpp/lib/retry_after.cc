#include "client/cpp/lib/retry_after.h"

#include <algorithm>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "attend/v1/status_details.pb.h"

namespace attend {
namespace {

constexpr char kRetryInfo[] = "type.googleapis.com/google.rpc.RetryInfo";

// Reads the bytes of a google.rpc.RetryInfo.
std::optional<absl::Duration> DelayOf(const std::string& bytes) {
  v1::RetryInfo info;
  if (!info.ParseFromString(bytes)) return std::nullopt;
  const auto& delay = info.retry_delay();
  return std::max(absl::ZeroDuration(), absl::Seconds(delay.seconds()) +
                                            absl::Nanoseconds(delay.nanos()));
}

}  // namespace

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfo);
  if (!payload.has_value()) return std::nullopt;
  return DelayOf(std::string(*payload));
}

void SetRetryAfter(absl::Duration time, absl::Status& status) {
  v1::RetryInfo info;
  absl::Duration rest;
  info.mutable_retry_delay()->set_seconds(
      absl::IDivDuration(time, absl::Seconds(1), &rest));
  info.mutable_retry_delay()->set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(rest)));
  status.SetPayload(kRetryInfo, absl::Cord(info.SerializeAsString()));
}

std::optional<absl::Duration> RetryAfterInDetails(const std::string& bytes) {
  v1::StatusDetails status;
  if (!status.ParseFromString(bytes)) return std::nullopt;
  for (const google::protobuf::Any& detail : status.details()) {
    if (absl::EndsWith(detail.type_url(), "/google.rpc.RetryInfo")) {
      return DelayOf(detail.value());
    }
  }
  return std::nullopt;
}

}  // namespace attend
