#ifndef ATTEND_SERVER_OBSERVABILITY_SPAN_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_SPAN_METRICS_H_

#include <array>

#include "server/observability/late_series.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace attend {

// The reason why a span did not reach a collector: the queue was full, the
// collector could not be reached in time, or it rejected the span.
enum class SpanDrop { kQueueFull, kExportFailed, kRejected };
inline constexpr int kNumSpanDrops = 3;

// The metrics of the spans of traces. Thread-safe.
class SpanMetrics {
 public:
  // `registry` must outlive the SpanMetrics.
  explicit SpanMetrics(prometheus::Registry& registry);

  // A collector has taken that many spans.
  void OnExported(int spans);
  void OnDropped(SpanDrop reason, int spans);

 private:
  LateSeries<prometheus::Counter> exported_;
  std::array<LateSeries<prometheus::Counter>, kNumSpanDrops> dropped_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_SPAN_METRICS_H_
