#include "client/cpp/load/time_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/load/latency.h"

namespace attend {
namespace {

// The time of a run, in equal parts.
class Parts {
 public:
  explicit Parts(const LoadResult& result)
      : width_(absl::ToDoubleSeconds(result.elapsed) /
               static_cast<double>(Count(result))),
        calls_(Count(result)) {
    for (const CallRecord& call : result.calls) {
      const double part = absl::ToDoubleSeconds(call.end) / width_;
      const double last = static_cast<double>(calls_.size() - 1);
      calls_[static_cast<size_t>(std::clamp(part, 0.0, last))].push_back(&call);
    }
  }

  size_t size() const { return calls_.size(); }
  double seconds() const { return width_; }  // of each
  double Middle(size_t i) const {
    return width_ * (static_cast<double>(i) + 0.5);
  }
  const std::vector<const CallRecord*>& Ended(size_t i) const {
    return calls_[i];
  }

  Chart NewChart(std::string title, std::string note) const {
    Chart chart{.title = std::move(title), .note = std::move(note)};
    chart.x_most = width_ * static_cast<double>(size());
    // As many as a y axis has.
    for (const ChartTick& tick : YTicks(chart.x_most)) {
      if (tick.at > chart.x_most) break;
      chart.x_ticks.push_back({tick.at, tick.label + " s"});
    }
    return chart;
  }

 private:
  // Few enough that a part has some calls.
  static size_t Count(const LoadResult& result) {
    return std::clamp<size_t>(result.calls.size() / 8, 1, 60);
  }

  const double width_;
  std::vector<std::vector<const CallRecord*>> calls_;
};

// Something that calls have some of, a second.
struct Rate {
  const char* title;
  int64_t (*of)(const CallRecord&);
};

constexpr Rate kRates[] = {
    {"Calls a second", [](const CallRecord&) -> int64_t { return 1; }},
    {"Generated tokens a second",
     [](const CallRecord& call) { return call.tokens; }},
    {"Source tokens a second",
     [](const CallRecord& call) { return call.source_tokens; }}};

ChartCurve RateCurve(const Parts& parts, const Rate& rate, bool succeeded) {
  ChartCurve curve{succeeded ? "succeeded" : "failed", {}};
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t sum = 0;
    for (const CallRecord* call : parts.Ended(i)) {
      if ((call->code == absl::StatusCode::kOk) == succeeded) {
        sum += rate.of(*call);
      }
    }
    const double a_second = static_cast<double>(sum) / parts.seconds();
    curve.points.push_back(
        {parts.Middle(i), a_second,
         absl::StrFormat("%.2f s: %.1f a second", parts.Middle(i), a_second)});
  }
  return curve;
}

bool IsZero(const ChartCurve& curve) {
  return std::all_of(curve.points.begin(), curve.points.end(),
                     [](const ChartPoint& point) { return point.y == 0; });
}

void AddRate(const Parts& parts, const Rate& rate, std::vector<Chart>& charts) {
  Chart chart =
      parts.NewChart(rate.title, "of calls, by the time of their end");
  for (const bool succeeded : {true, false}) {
    ChartCurve curve = RateCurve(parts, rate, succeeded);
    if (!IsZero(curve)) chart.curves.push_back(std::move(curve));
  }
  if (!chart.curves.empty()) charts.push_back(std::move(chart));
}

void AddOverTime(const Parts& parts, std::string title, Latency latency,
                 std::vector<Chart>& charts) {
  Chart chart = parts.NewChart(
      std::move(title), "milliseconds, of calls, by the time of their end");
  chart.curves = {{"p50", {}}, {"p90", {}}, {"max", {}}};
  for (size_t i = 0; i < parts.size(); ++i) {
    Times times;
    for (const CallRecord* call : parts.Ended(i)) {
      if (const auto time = latency(*call)) times.push_back(*time);
    }
    if (times.empty()) continue;
    std::sort(times.begin(), times.end());
    for (size_t c = 0; c < 3; ++c) {
      const absl::Duration time = Percentile(times, c == 0   ? 0.5
                                                    : c == 1 ? 0.9
                                                             : 1);
      const std::string at =
          absl::StrFormat("%.2f s, %s", parts.Middle(i), chart.curves[c].name);
      chart.curves[c].points.push_back(TimePoint(parts.Middle(i), time, at));
    }
  }
  if (!chart.curves[0].points.empty()) charts.push_back(std::move(chart));
}

}  // namespace

std::vector<Chart> TimeCharts(const LoadResult& result) {
  const Parts parts(result);
  std::vector<Chart> charts;
  for (const Rate& rate : kRates) AddRate(parts, rate, charts);
  AddOverTime(parts, "Time to first token", FirstToken, charts);
  AddOverTime(parts, "Time in the server's queue", QueueTime, charts);
  AddOverTime(parts, "End to end", EndToEnd, charts);
  return charts;
}

}  // namespace attend
