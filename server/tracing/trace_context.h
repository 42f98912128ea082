#ifndef ATTEND_SERVER_TRACING_TRACE_CONTEXT_H_
#define ATTEND_SERVER_TRACING_TRACE_CONTEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The keys of a trace context in the metadata, or the headers, of a call.
inline constexpr char kTraceparentKey[] = "traceparent";
inline constexpr char kTracestateKey[] = "tracestate";

// All zeros: there is none.
using TraceId = std::array<uint8_t, 16>;
using SpanId = std::array<uint8_t, 8>;

// Lower-case hexadecimal digits, two a byte.
std::string ToHex(const TraceId& id);

// The span under which a caller wants to see its call: W3C Trace Context,
// level 1.
struct TraceContext {
  TraceId trace_id = {};
  SpanId span_id = {};
  bool sampled = false;
};

// The value of a header `traceparent`, of version 00 or of a later one as far
// as this version knows it. None if it is malformed, as that specification
// says: then the call has no caller's trace, which is no error.
std::optional<TraceContext> ParseTraceparent(absl::string_view text);

// Longer ones lose members, the last first.
inline constexpr size_t kMaxTracestateBytes = 512;
// Adds the value of one of several headers `tracestate` to those before it.
void JoinTracestate(absl::string_view value, std::string& joined);
// The value of a header `tracestate`, or of several that are joined, without
// empty members and the spaces between members. Empty if it is malformed: a
// wrong member spoils the others.
std::string CleanTracestate(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_TRACE_CONTEXT_H_
