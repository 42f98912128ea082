#include "server/observability/log_metrics.h"

namespace attend {

std::vector<prometheus::MetricFamily> LogMetrics::Collect() const {
  prometheus::MetricFamily family = {
      "attend_log_lines_dropped_total",
      "Lines that a log has dropped, because nobody read it or took them.",
      prometheus::MetricType::Counter,
      {}};
  for (const auto& [name, dropped] : logs_) {
    const int64_t lines = dropped();
    if (lines == 0) continue;
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"log", name}};
    metric.counter.value = static_cast<double>(lines);
  }
  if (family.metric.empty()) return {};
  return {family};
}

}  // namespace attend
