#ifndef ATTEND_SERVER_APP_START_TRACING_H_
#define ATTEND_SERVER_APP_START_TRACING_H_

#include <memory>
#include <string>

#include "server/observability/log.h"
#include "server/observability/span_metrics.h"
#include "server/otlp/otlp_exporter.h"
#include "server/tracing/tracer.h"

namespace attend {

// Records calls, and exports their spans to a collector.
struct Tracing {
  Tracer tracer;
  std::unique_ptr<OtlpExporter> exporter;  // destroyed first: uses the tracer
};

// Reads OpenTelemetry's variables and starts what they ask for; null: nothing,
// or what cannot be used, of which the log warns. `endpoint`: the option, which
// wins. `metrics` and `log` must outlive the Tracing.
std::unique_ptr<Tracing> StartTracing(const std::string& endpoint,
                                      const std::string& version,
                                      SpanMetrics& metrics, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_START_TRACING_H_
