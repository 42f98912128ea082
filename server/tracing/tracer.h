#ifndef ATTEND_SERVER_TRACING_TRACER_H_
#define ATTEND_SERVER_TRACING_TRACER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/observability/span_metrics.h"
#include "server/tracing/sampler.h"
#include "server/tracing/span.h"
#include "server/tracing/span_queue.h"

namespace attend {

// Decides which calls are recorded, gives spans their ids, and keeps what calls
// record until it is exported. Thread-safe.
class Tracer {
 public:
  // `metrics` must outlive the tracer. `seed`: random, or ids are those of
  // another process.
  Tracer(const SamplerOptions& sampler, const SpanQueueOptions& queue,
         SpanMetrics& metrics, uint64_t seed)
      : sampler_(sampler), queue_(queue), metrics_(metrics), next_id_(seed) {}

  // The context of the span of a call with that parent, in the parent's trace
  // or in a new one. None: the call is not recorded.
  std::optional<TraceContext> Begin(const std::optional<TraceContext>& parent);
  SpanId NewSpanId();
  // Takes the spans of a call, or drops and counts them.
  void Record(std::vector<Span> spans);

  // The spans to export.
  SpanQueue& queue() { return queue_; }

 private:
  uint64_t NewId();

  const SamplerOptions sampler_;
  SpanQueue queue_;
  SpanMetrics& metrics_;
  std::atomic<uint64_t> next_id_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_TRACER_H_
