// The headers of a trace: a traceparent, a line's end, and a tracestate.
#include "absl/strings/str_split.h"
#include "server/tracing/trace_context.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const std::pair<absl::string_view, absl::string_view> headers =
      absl::StrSplit(View(data, size), absl::MaxSplits('\n', 1));
  if (const auto context = ParseTraceparent(headers.first)) {
    ++accepted_inputs;
    ATTEND_CHECK(ToHex(context->trace_id) == headers.first.substr(3, 32));
    ATTEND_CHECK(context->span_id != SpanId{});
  }
  const std::string clean = CleanTracestate(headers.second);
  ATTEND_CHECK(clean.size() <= kMaxTracestateBytes);
  // What is clean stays as it is.
  ATTEND_CHECK(CleanTracestate(clean) == clean);
  return 0;
}
