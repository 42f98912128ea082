#ifndef ATTEND_SERVER_OTLP_OTLP_MESSAGE_H_
#define ATTEND_SERVER_OTLP_OTLP_MESSAGE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "otlp/trace_service.pb.h"
#include "server/tracing/span.h"
#include "server/tracing/tracing_options.h"

namespace attend {

namespace otlp = opentelemetry::proto::collector::trace::v1;

// The spans of a server whose resource has these attributes. `version`: of the
// build. `to_system_time` is added to the times of spans, which are of a clock
// that nobody sets.
otlp::ExportTraceServiceRequest ToOtlp(const std::vector<Span>& spans,
                                       const TracingPairs& resource,
                                       absl::string_view version,
                                       absl::Duration to_system_time);

}  // namespace attend

#endif  // ATTEND_SERVER_OTLP_OTLP_MESSAGE_H_
