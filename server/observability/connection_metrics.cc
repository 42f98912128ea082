#include "server/observability/connection_metrics.h"

#include "server/observability/metric_series.h"

namespace attend {
namespace {

constexpr std::array<const char*, kNumConnectionRefusals> kReasonNames = {
    "total", "address", "descriptors"};

}  // namespace

ConnectionMetrics::ConnectionMetrics(prometheus::Registry& registry)
    : open_(SeriesMaker(registry, {})
                .NewGauge("attend_grpc_connections",
                          "Open connections of the gRPC port.")) {
  for (int r = 0; r < kNumConnectionRefusals; ++r) {
    refused_[r] = SeriesMaker(registry, {})
                      .LateCounter("attend_grpc_connections_refused_total",
                                   "Connections that were closed as they came.",
                                   {{"reason", kReasonNames[r]}});
  }
}

void ConnectionMetrics::SetOpen(int connections) { open_.Set(connections); }

void ConnectionMetrics::OnRefused(ConnectionRefusal reason) {
  refused_[static_cast<int>(reason)]->Increment();
}

}  // namespace attend
