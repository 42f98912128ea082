#include "server/observability/metric_series.h"

#include "absl/status/status.h"

namespace attend {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

std::string CodeName(int code) {
  const std::string name =
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
  return name.empty() ? "UNKNOWN" : name;
}

Histogram::BucketBoundaries GeometricBounds(double first, double factor,
                                            int count) {
  Histogram::BucketBoundaries bounds;
  for (double bound = first; count > 0; --count, bound *= factor) {
    bounds.push_back(bound);
  }
  return bounds;
}

Histogram::BucketBoundaries DurationBounds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
          0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
}

Counter& SeriesMaker::NewCounter(const char* name, const char* help,
                                 const MetricLabels& more) const {
  return prometheus::BuildCounter()
      .Name(name)
      .Help(help)
      .Register(registry_)
      .Add(With(more));
}

Gauge& SeriesMaker::NewGauge(const char* name, const char* help,
                             const MetricLabels& more) const {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(
      With(more));
}

Histogram& SeriesMaker::NewHistogram(const char* name, const char* help,
                                     const Histogram::BucketBoundaries& bounds,
                                     const MetricLabels& more) const {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(registry_)
      .Add(With(more), bounds);
}

LateSeries<Counter> SeriesMaker::LateCounter(const char* name, const char* help,
                                             const MetricLabels& more) const {
  return LateSeries<Counter>([maker = *this, name, help, more]() -> Counter& {
    return maker.NewCounter(name, help, more);
  });
}

LateSeries<Histogram> SeriesMaker::LateHistogram(
    const char* name, const char* help,
    const Histogram::BucketBoundaries& bounds, const MetricLabels& more) const {
  return LateSeries<Histogram>(
      [maker = *this, name, help, bounds, more]() -> Histogram& {
        return maker.NewHistogram(name, help, bounds, more);
      });
}

MetricLabels SeriesMaker::With(MetricLabels more) const {
  more.insert(labels_.begin(), labels_.end());
  return more;
}

}  // namespace attend
