#ifndef ATTEND_SERVER_OBSERVABILITY_PROCESS_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_PROCESS_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace attend {

// The figures of this process that Prometheus' client libraries export, under
// the same names. Collect() reads them from /proc; a figure that cannot be read
// is left out. Thread-safe.
class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_PROCESS_METRICS_H_
