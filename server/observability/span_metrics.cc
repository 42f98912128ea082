#include "server/observability/span_metrics.h"

#include "server/observability/metric_series.h"

namespace attend {
namespace {

constexpr std::array<const char*, kNumSpanDrops> kDropNames = {
    "queue_full", "export_failed", "rejected"};

}  // namespace

SpanMetrics::SpanMetrics(prometheus::Registry& registry)
    : exported_(SeriesMaker(registry, {})
                    .LateCounter("attend_spans_exported_total",
                                 "Spans of traces that a collector took.")) {
  for (int r = 0; r < kNumSpanDrops; ++r) {
    dropped_[r] = SeriesMaker(registry, {})
                      .LateCounter("attend_spans_dropped_total",
                                   "Spans of traces that no collector has got.",
                                   {{"reason", kDropNames[r]}});
  }
}

void SpanMetrics::OnExported(int spans) { exported_->Increment(spans); }

void SpanMetrics::OnDropped(SpanDrop reason, int spans) {
  dropped_[static_cast<int>(reason)]->Increment(spans);
}

}  // namespace attend
