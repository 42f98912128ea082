#ifndef ATTEND_SERVER_OBSERVABILITY_CONNECTION_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_CONNECTION_METRICS_H_

#include <array>

#include "server/observability/late_series.h"

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace attend {

// Why a connection was closed as soon as it came: there are too many
// connections, too many connections of its address, or too few descriptors are
// left.
enum class ConnectionRefusal { kTotal, kAddress, kDescriptors };
inline constexpr int kNumConnectionRefusals = 3;

// The metrics of the connections of the gRPC port. Thread-safe.
class ConnectionMetrics {
 public:
  // `registry` must outlive the ConnectionMetrics.
  explicit ConnectionMetrics(prometheus::Registry& registry);

  // `connections` connections are open now.
  void SetOpen(int connections);
  void OnRefused(ConnectionRefusal reason);

 private:
  prometheus::Gauge& open_;
  std::array<LateSeries<prometheus::Counter>, kNumConnectionRefusals> refused_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_CONNECTION_METRICS_H_
