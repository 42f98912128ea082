#ifndef ATTEND_SERVER_OBSERVABILITY_OPEN_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_OPEN_METRICS_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "server/observability/exemplars.h"

namespace attend {

// The families as a page of OpenMetrics 1.0: gauges, counters, whose names end
// in _total, and histograms with their exemplars.
std::string ToOpenMetrics(const std::vector<prometheus::MetricFamily>& families,
                          const ExemplarMap& exemplars);

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_OPEN_METRICS_H_
