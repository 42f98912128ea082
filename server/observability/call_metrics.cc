#include "server/observability/call_metrics.h"

#include <array>
#include <string>

#include "server/observability/metric_series.h"

namespace attend {
namespace {

constexpr std::array<absl::string_view, kNumMethods> kMethodNames = {
    "Generate",   "GenerateStream", "Score",   "Embed",
    "Classify",   "FillMask",       "Rerank",  "Tokenize",
    "Detokenize", "ListModels",     "GetModel"};
constexpr std::array<absl::string_view, kNumRejectReasons> kReasonNames = {
    "queue_full", "tokenizer_full", "draining", "invalid"};
constexpr int kNumCodes = 17;  // of google.rpc.Code

std::string CodeName(int code) {
  const std::string name =
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
  return name.empty() ? "UNKNOWN" : name;
}

}  // namespace

absl::string_view MethodName(Method method) {
  return kMethodNames[static_cast<int>(method)];
}

struct CallMetrics::Series {
  std::array<std::array<prometheus::Counter*, kNumCodes>, kNumMethods> calls;
  std::array<prometheus::Histogram*, kNumMethods> call_seconds;
  std::array<prometheus::Counter*, kNumRejectReasons> rejected;
  prometheus::Counter* slow_readers;
};

CallMetrics::CallMetrics(prometheus::Registry& registry,
                         absl::string_view model)
    : series_([&] {
        const SeriesMaker make(registry, {{"model", std::string(model)}});
        auto series = std::make_unique<Series>();
        for (int m = 0; m < kNumMethods; ++m) {
          const std::string method(kMethodNames[m]);
          for (int code = 0; code < kNumCodes; ++code) {
            series->calls[m][code] = &make.NewCounter(
                "attend_requests_total", "Calls that ended, by status code.",
                {{"method", method}, {"code", CodeName(code)}});
          }
          series->call_seconds[m] =
              &make.NewHistogram("attend_request_seconds",
                                 "Time of a call from its arrival to its end.",
                                 DurationBounds(), {{"method", method}});
        }
        for (int r = 0; r < kNumRejectReasons; ++r) {
          series->rejected[r] = &make.NewCounter(
              "attend_rejected_total", "Inputs that were turned away.",
              {{"reason", std::string(kReasonNames[r])}});
        }
        series->slow_readers = &make.NewCounter(
            "attend_slow_readers_total",
            "Calls cancelled because their client did not read.");
        return series;
      }()) {}

CallMetrics::~CallMetrics() = default;

void CallMetrics::OnCall(Method method, absl::StatusCode code,
                         absl::Duration duration) {
  const int m = static_cast<int>(method);
  series_->calls[m][static_cast<int>(code)]->Increment();
  series_->call_seconds[m]->Observe(absl::ToDoubleSeconds(duration));
}

void CallMetrics::OnRejected(RejectReason reason) {
  series_->rejected[static_cast<int>(reason)]->Increment();
}

void CallMetrics::OnSlowReader() { series_->slow_readers->Increment(); }

}  // namespace attend
