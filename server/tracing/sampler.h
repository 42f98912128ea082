#ifndef ATTEND_SERVER_TRACING_SAMPLER_H_
#define ATTEND_SERVER_TRACING_SAMPLER_H_

#include <optional>

#include "server/tracing/trace_context.h"

namespace attend {

// The selection of recorded calls, as in OpenTelemetry's samplers.
struct SamplerOptions {
  // A call with a caller's trace is recorded if that trace is. Otherwise such
  // calls count as those without.
  bool follow_parent = true;
  // The share of the other traces that are recorded. The id of a trace decides,
  // so that all services with this share choose the same traces.
  double share = 1;
};

bool IsSampled(const SamplerOptions& options,
               const std::optional<TraceContext>& parent,
               const TraceId& trace_id);

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_SAMPLER_H_
