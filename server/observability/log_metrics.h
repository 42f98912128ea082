#ifndef ATTEND_SERVER_OBSERVABILITY_LOG_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_LOG_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attend {

// Numbers of dropped lines of each log. A log that has dropped none has no
// series. Thread-safe once all logs have been added.
class LogMetrics : public prometheus::Collectable {
 public:
  void Add(const std::string& name, std::function<int64_t()> dropped) {
    logs_.emplace_back(name, std::move(dropped));
  }
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::vector<std::pair<std::string, std::function<int64_t()>>> logs_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LOG_METRICS_H_
