#ifndef ATTEND_SERVER_TRACING_SPAN_H_
#define ATTEND_SERVER_TRACING_SPAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/tracing/trace_context.h"

namespace attend {

// A named fact of a span.
struct SpanAttribute {
  enum Kind { kInt, kReal, kText };

  SpanAttribute(const char* name, int64_t value)
      : key(name), kind(kInt), integer(value) {}
  SpanAttribute(const char* name, double value)
      : key(name), kind(kReal), real(value) {}
  SpanAttribute(const char* name, std::string value)
      : key(name), kind(kText), text(std::move(value)) {}

  const char* key;  // a literal
  Kind kind;        // the type of the value
  int64_t integer = 0;
  double real = 0;
  std::string text;
};

// A part of a trace: what was done, from when to when.
struct Span {
  TraceId trace_id = {};
  SpanId id = {};
  SpanId parent = {};             // zeros: none
  bool parent_is_remote = false;  // the caller's own span
  bool is_call = false;           // a whole call, not a phase of one
  std::string tracestate;
  std::string name;
  absl::Time begin;
  absl::Time end;
  std::string error;  // empty: no failure of the server
  std::vector<SpanAttribute> attributes;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_SPAN_H_
