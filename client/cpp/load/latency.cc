#include "client/cpp/load/latency.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace attend {

std::optional<absl::Duration> EndToEnd(const CallRecord& call) {
  if (call.code != absl::StatusCode::kOk) return std::nullopt;
  return call.total;
}

std::optional<absl::Duration> FirstToken(const CallRecord& call) {
  if (call.code != absl::StatusCode::kOk ||
      call.first_token <= absl::ZeroDuration()) {
    return std::nullopt;
  }
  return call.first_token;
}

std::optional<absl::Duration> QueueTime(const CallRecord& call) {
  if (call.code != absl::StatusCode::kOk) return std::nullopt;
  return call.queue;
}

absl::Duration Percentile(const Times& sorted, double fraction) {
  const double rank =
      std::ceil(fraction * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<size_t>(
      std::clamp(rank - 1, 0.0, static_cast<double>(sorted.size() - 1)))];
}

ChartPoint TimePoint(double x, absl::Duration time, const std::string& name) {
  const double height = absl::ToDoubleMilliseconds(time);
  return {x, height,
          name.empty() ? "" : absl::StrFormat("%s: %.2f ms", name, height)};
}

}  // namespace attend
