#ifndef ATTEND_SERVER_OTLP_OTLP_EXPORTER_H_
#define ATTEND_SERVER_OTLP_OTLP_EXPORTER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/observability/log.h"
#include "server/observability/span_metrics.h"
#include "server/tracing/span_queue.h"
#include "server/tracing/tracing_options.h"

namespace attend {

// Sends spans to a collector, on a thread of its own. Where the collector is
// slow or away, the queue becomes full, and new spans are dropped and counted:
// no call waits, and no more memory is taken. The log tells once that exports
// fail, and once that they succeed again.
class OtlpExporter {
 public:
  // Maximum delay of the process's exit by the last spans.
  static constexpr absl::Duration kLastWords = absl::Seconds(1);

  // Begins to export what is in `queue`. The last three arguments must outlive
  // the exporter. `version`: of the build. INVALID_ARGUMENT names a file of
  // certificates that cannot be read.
  static absl::StatusOr<std::unique_ptr<OtlpExporter>> Start(
      const TracingOptions& options, std::string version, SpanQueue& queue,
      SpanMetrics& metrics, Log& log);
  // Closes the queue, and exports what is left in it.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

 private:
  struct Impl;
  explicit OtlpExporter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OTLP_OTLP_EXPORTER_H_
