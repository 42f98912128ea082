#include "server/tracing/tracer.h"

#include <cstddef>
#include <utility>

namespace attend {
namespace {

void PutBytes(uint64_t number, uint8_t* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = number >> (56 - 8 * i) & 0xff;
}

}  // namespace

// SplitMix64 of a count: no number comes twice, and each looks random.
uint64_t Tracer::NewId() {
  while (true) {
    uint64_t z =
        next_id_.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    if (z != 0) return z;  // zero is no id
  }
}

SpanId Tracer::NewSpanId() {
  SpanId id;
  PutBytes(NewId(), id.data());
  return id;
}

std::optional<TraceContext> Tracer::Begin(
    const std::optional<TraceContext>& parent) {
  TraceContext own;
  if (parent) {
    own.trace_id = parent->trace_id;
  } else if (sampler_.share > 0) {
    PutBytes(NewId(), own.trace_id.data());
    PutBytes(NewId(), own.trace_id.data() + 8);
  }
  if (!IsSampled(sampler_, parent, own.trace_id)) return std::nullopt;
  own.span_id = NewSpanId();
  own.sampled = true;
  return own;
}

void Tracer::Record(std::vector<Span> spans) {
  const size_t count = spans.size();
  if (queue_.Add(std::move(spans))) return;
  metrics_.OnDropped(SpanDrop::kQueueFull, static_cast<int>(count));
}

}  // namespace attend
