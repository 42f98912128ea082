#ifndef ATTEND_SERVER_TRACING_TRACING_OPTIONS_H_
#define ATTEND_SERVER_TRACING_TRACING_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/tracing/sampler.h"
#include "server/tracing/span_queue.h"

namespace attend {

// Where a collector takes OTLP over gRPC.
struct OtlpEndpoint {
  std::string target;  // as gRPC wants it; empty: nothing is exported
  bool tls = false;
};

// Reads "http://host:4317", "https://host", or "host:4317", which means TLS as
// OpenTelemetry wants; a path, which is for OTLP over HTTP, is ignored.
// INVALID_ARGUMENT says what it must be like, but not what it was: there may be
// a password in it.
absl::StatusOr<OtlpEndpoint> ParseOtlpEndpoint(absl::string_view text);

using TracingPairs = std::vector<std::pair<std::string, std::string>>;

struct TracingOptions {
  OtlpEndpoint endpoint;
  TracingPairs headers;  // metadata of each export; keys in lower case
  TracingPairs resource = {{"service.name", "attend"}};
  absl::Duration timeout = absl::Seconds(10);  // for one export
  bool gzip = false;
  std::string ca_file = "";  // PEM; empty: the system's
  SamplerOptions sampler;
  SpanQueueOptions queue;
};

// The value of a variable; null: not set.
using GetVariable = absl::FunctionRef<const char*(const char* name)>;

// Reads OpenTelemetry's variables (docs/operations.md lists them).
// `endpoint`, if not empty, takes precedence over their endpoints, but not over
// variables that disable tracing; it must be valid. An invalid value counts as
// unset, as OpenTelemetry requires, and adds a warning, which does not show
// values, because they may be secrets.
TracingOptions ReadTracingOptions(absl::string_view endpoint,
                                  GetVariable get_variable,
                                  std::vector<std::string>& warnings);

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_TRACING_OPTIONS_H_
