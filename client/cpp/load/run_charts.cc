#include "client/cpp/load/run_charts.h"

#include <utility>

#include "client/cpp/load/latency.h"
#include "client/cpp/load/percentile_chart.h"
#include "client/cpp/load/time_charts.h"

namespace attend {
namespace {

Times Collect(const LoadResult& result, Latency latency) {
  Times times;
  for (const CallRecord& call : result.calls) {
    if (const auto time = latency(call)) times.push_back(*time);
  }
  return times;
}

Times Gaps(const LoadResult& result) {
  Times gaps;
  for (const CallRecord& call : result.calls) {
    if (call.code != absl::StatusCode::kOk) continue;
    gaps.insert(gaps.end(), call.gaps.begin(), call.gaps.end());
  }
  return gaps;
}

}  // namespace

std::vector<Chart> RunCharts(const LoadResult& result) {
  if (result.calls.empty() || result.elapsed <= absl::ZeroDuration()) return {};
  std::vector<Chart> charts = {
      PercentileChart("Latency of calls",
                      {{"end to end", Collect(result, EndToEnd)},
                       {"first token", Collect(result, FirstToken)},
                       {"queue", Collect(result, QueueTime)}}),
      PercentileChart("Time between tokens", {{"inter-token", Gaps(result)}})};
  std::erase_if(charts,
                [](const Chart& chart) { return chart.curves.empty(); });
  for (Chart& chart : TimeCharts(result)) charts.push_back(std::move(chart));
  return charts;
}

}  // namespace attend
