#include "server/observability/call_metrics.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "engine/tensor/check.h"
#include "server/observability/metric_series.h"

namespace attend {
namespace {

constexpr std::array<absl::string_view, kNumRejectReasons> kReasonNames = {
    "queue_full", "tokenizer_full", "draining",
    "invalid",    "tenant_limit",   "memory"};

// These come with the first call of their method, so that a rate includes the
// first error: alerts are made of them. Other codes come when they occur.
constexpr absl::StatusCode kAlertCodes[] = {
    absl::StatusCode::kInternal, absl::StatusCode::kDeadlineExceeded};

constexpr char kSecondsName[] = "attend_request_seconds";

struct MethodSeries {
  MethodSeries(const SeriesMaker& make, const std::string& method)
      : seconds(make.LateHistogram(kSecondsName,
                                   "Time of a call from its arrival to its "
                                   "end.",
                                   DurationBounds(), {{"method", method}})),
        exemplars(DurationBounds()) {
    for (int code = 0; code < kNumCodes; ++code) {
      calls[code] = make.LateCounter(
          "attend_requests_total", "Calls that ended, by status code.",
          {{"method", method}, {"code", CodeName(code)}});
    }
  }
  std::array<LateSeries<prometheus::Counter>, kNumCodes> calls;
  LateSeries<prometheus::Histogram> seconds;
  Exemplars exemplars;  // exemplars of `seconds`
};

}  // namespace

struct CallMetrics::Series {
  std::string model;
  std::map<std::string, MethodSeries, std::less<>> methods;
  std::array<LateSeries<prometheus::Counter>, kNumRejectReasons> rejected;
  prometheus::Counter* slow_readers;
};

CallMetrics::CallMetrics(prometheus::Registry& registry,
                         absl::string_view model,
                         const std::vector<std::string>& methods)
    : series_([&] {
        const SeriesMaker make(registry, {{"model", std::string(model)}});
        auto series = std::make_unique<Series>();
        series->model = std::string(model);
        for (const std::string& method : methods) {
          series->methods.try_emplace(method, make, method);
        }
        for (int r = 0; r < kNumRejectReasons; ++r) {
          series->rejected[r] =
              make.LateCounter("attend_rejected_total",
                               "Inputs and calls that were refused, by reason.",
                               {{"reason", std::string(kReasonNames[r])}});
        }
        series->slow_readers = &make.NewCounter(
            "attend_slow_readers_total",
            "Calls cancelled because their client did not read.");
        return series;
      }()) {}

CallMetrics::~CallMetrics() = default;

void CallMetrics::OnCall(absl::string_view method, absl::StatusCode code,
                         absl::Duration duration, absl::string_view trace_id) {
  const auto found = series_->methods.find(method);
  ATTEND_CHECK(found != series_->methods.end());
  MethodSeries& series = found->second;
  for (absl::StatusCode alert : kAlertCodes) {
    static_cast<void>(*series.calls[static_cast<int>(alert)]);
  }
  series.calls[static_cast<int>(code)]->Increment();
  const double seconds = absl::ToDoubleSeconds(duration);
  series.seconds->Observe(seconds);
  if (!trace_id.empty()) series.exemplars.Set(seconds, trace_id, absl::Now());
}

void CallMetrics::OnRejected(RejectReason reason) {
  series_->rejected[static_cast<int>(reason)]->Increment();
}

void CallMetrics::OnSlowReader() { series_->slow_readers->Increment(); }

void CallMetrics::AddExemplars(ExemplarMap& exemplars) const {
  for (const auto& [method, series] : series_->methods) {
    std::vector<Exemplar> last = series.exemplars.Last();
    if (last.empty()) continue;
    exemplars[{kSecondsName, {{"method", method}, {"model", series_->model}}}] =
        std::move(last);
  }
}

}  // namespace attend
