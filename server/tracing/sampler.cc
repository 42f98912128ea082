#include "server/tracing/sampler.h"

#include <cstdint>

namespace attend {

bool IsSampled(const SamplerOptions& options,
               const std::optional<TraceContext>& parent,
               const TraceId& trace_id) {
  if (parent && options.follow_parent) return parent->sampled;
  if (options.share >= 1) return true;
  uint64_t random = 0;  // the second half of an id, as OpenTelemetry's SDKs do
  for (size_t i = 8; i < trace_id.size(); ++i) {
    random = random << 8 | trace_id[i];
  }
  constexpr double kRange = 9223372036854775808.0;  // 2^63
  return static_cast<double>(random >> 1) < options.share * kRange;
}

}  // namespace attend
