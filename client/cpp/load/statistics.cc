#include "client/cpp/load/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attend {

Quantiles Summarize(std::vector<absl::Duration> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto count = static_cast<int64_t>(values.size());
  const auto percentile = [&](int64_t percent) {
    return values[(percent * count + 99) / 100 - 1];
  };
  const absl::Duration sum =
      std::accumulate(values.begin(), values.end(), absl::ZeroDuration());
  return {.count = count,
          .mean = sum / count,
          .p50 = percentile(50),
          .p90 = percentile(90),
          .p99 = percentile(99),
          .max = values.back()};
}

absl::Duration PoissonArrivals::Next() {
  // Not std::exponential_distribution: its numbers differ between standard
  // libraries. 53 random bits make a number in (0, 1], so its log is finite.
  const double uniform =
      (static_cast<double>(engine_() >> 11) + 1) * std::ldexp(1.0, -53);
  // At least a nanosecond, so that times strictly increase.
  last_ +=
      std::max(absl::Nanoseconds(1), absl::Seconds(-std::log(uniform) / rate_));
  return last_;
}

}  // namespace attend
