#ifndef ATTEND_SERVER_OBSERVABILITY_METRIC_SERIES_H_
#define ATTEND_SERVER_OBSERVABILITY_METRIC_SERIES_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>
#include <utility>

#include "server/observability/late_series.h"

namespace attend {

using MetricLabels = std::map<std::string, std::string>;

inline constexpr int kNumCodes = 17;  // values of google.rpc.Code
// The name of a code, as in labels; "UNKNOWN" for other numbers.
std::string CodeName(int code);

// `count` bounds of histogram buckets, from `first` on, each `factor` times the
// one before.
prometheus::Histogram::BucketBoundaries GeometricBounds(double first,
                                                        double factor,
                                                        int count);
// The bounds for durations, in seconds: 0.5 ms to 60 s.
prometheus::Histogram::BucketBoundaries DurationBounds();

// Makes series in a registry, which must outlive the series. All series have
// `labels` in common. The same arguments give the same series.
class SeriesMaker {
 public:
  SeriesMaker(prometheus::Registry& registry, MetricLabels labels)
      : registry_(registry), labels_(std::move(labels)) {}

  prometheus::Counter& NewCounter(const char* name, const char* help,
                                  const MetricLabels& more = {}) const;
  prometheus::Gauge& NewGauge(const char* name, const char* help,
                              const MetricLabels& more = {}) const;
  prometheus::Histogram& NewHistogram(
      const char* name, const char* help,
      const prometheus::Histogram::BucketBoundaries& bounds,
      const MetricLabels& more = {}) const;
  // The same, but the series is made at its first use. The registry must
  // outlive the LateSeries.
  LateSeries<prometheus::Counter> LateCounter(
      const char* name, const char* help, const MetricLabels& more = {}) const;
  LateSeries<prometheus::Histogram> LateHistogram(
      const char* name, const char* help,
      const prometheus::Histogram::BucketBoundaries& bounds,
      const MetricLabels& more = {}) const;

 private:
  MetricLabels With(MetricLabels more) const;

  prometheus::Registry& registry_;
  const MetricLabels labels_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_METRIC_SERIES_H_
