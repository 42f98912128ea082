#include "client/cpp/load/percentile_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace attend {
namespace {

double PercentileX(double fraction) { return -std::log10(1 - fraction); }

// The maximum stands to the right of the highest percentile that `count` values
// have.
double MaximumX(size_t count) {
  return std::log10(static_cast<double>(count)) + 0.3;
}

struct NamedPercentile {
  double fraction;
  const char* name;
};

std::vector<NamedPercentile> Percentiles(size_t count) {
  std::vector<NamedPercentile> named;
  for (const NamedPercentile& one : {NamedPercentile{0, "min"},
                                     {0.5, "p50"},
                                     {0.9, "p90"},
                                     {0.99, "p99"},
                                     {0.999, "p99.9"},
                                     {0.9999, "p99.99"}}) {
    // Of fewer values, it would be the maximum.
    if (one.fraction < 1 + 1e-9 - 1 / static_cast<double>(count)) {
      named.push_back(one);
    }
  }
  return named;
}

ChartCurve PercentileCurve(std::string name, Times times) {
  constexpr int kPoints = 120;
  std::sort(times.begin(), times.end());
  ChartCurve curve{std::move(name), {}};
  for (const NamedPercentile& one : Percentiles(times.size())) {
    const absl::Duration time = Percentile(times, one.fraction);
    curve.points.push_back(
        TimePoint(PercentileX(one.fraction), time, one.name));
  }
  const double last = std::log10(static_cast<double>(times.size()));
  for (int i = 1; i < kPoints; ++i) {
    const double x = last * i / kPoints;
    const absl::Duration time = Percentile(times, 1 - std::pow(10, -x));
    curve.points.push_back(TimePoint(x, time, ""));
  }
  std::stable_sort(curve.points.begin(), curve.points.end(),
                   [](const auto& a, const auto& b) { return a.x < b.x; });
  curve.points.push_back(
      TimePoint(MaximumX(times.size()), times.back(), "max"));
  return curve;
}

}  // namespace

Chart PercentileChart(std::string title, const NamedTimes& all) {
  Chart chart{.title = std::move(title), .note = "milliseconds, by percentile"};
  size_t most = 1;
  for (const auto& [name, times] : all) {
    if (times.empty()) continue;
    most = std::max(most, times.size());
    chart.curves.push_back(PercentileCurve(name, times));
  }
  chart.x_most = MaximumX(most);
  for (const NamedPercentile& one : Percentiles(most)) {
    chart.x_ticks.push_back({PercentileX(one.fraction), one.name});
  }
  chart.x_ticks.push_back({chart.x_most, "max"});
  return chart;
}

}  // namespace attend
