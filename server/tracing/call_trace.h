#ifndef ATTEND_SERVER_TRACING_CALL_TRACE_H_
#define ATTEND_SERVER_TRACING_CALL_TRACE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/scheduler/request.h"
#include "server/tracing/span.h"
#include "server/tracing/trace_context.h"
#include "server/tracing/tracer.h"

namespace attend {

// The trace context sent by the client of a call, and its HTTP method and path,
// as received.
struct TraceHeaders {
  absl::string_view traceparent = {};  // empty: not sent, or several times
  std::string tracestate = {};         // several are joined by commas
  absl::string_view http_method = {};  // empty: the call came by gRPC
  absl::string_view http_path = {};
};

// One input of a traced call, on its way through the scheduler.
struct InputTrace {
  RequestTimes times;
  int input_tokens = 0;
  int output_tokens = 0;
};

// A call that has ended.
struct TracedCall {
  absl::string_view method;  // "attend.v1.Attend/Translate", or the HTTP route
  absl::Time begin;
  absl::Time end;
  absl::Status status;
  int http_status = 0;  // 0: no answer was sent, or not over HTTP
  std::string request_id = {};
  std::string model = {};   // empty: not known
  std::string tenant = {};  // empty: of no file of tenants
  int inputs = 0;
  int input_tokens = 0;
  int output_tokens = 0;
};

// The recorded trace of one call. Costs only the id if the call is not sampled:
// check sampled() before reading a clock. The call serialises access by its
// threads.
class CallTrace {
 public:
  // Number of inputs with spans; further inputs are only counted. All memory of
  // a call is allocated when it begins, and when it ends.
  static constexpr int kMaxInputs = 16;

  // The call has come. Without `tracer`, which outlives the call, nothing is
  // recorded. Without memory neither.
  void Begin(const TraceHeaders& headers, Tracer* tracer);
  // The trace of which the call is a part, whether recorded here or not; in
  // hexadecimal. Empty: none.
  std::string id() const;
  bool sampled() const { return record_ != nullptr; }

  // The rest only if sampled.

  // A thread reads the request and makes tokens of its texts, until then.
  void BeginTokens(absl::Time now) { record_->tokens_begin = now; }
  void EndTokens(absl::Time now) { record_->tokens_end = now; }
  // An input has left the scheduler. Takes no memory.
  void AddInput(const InputTrace& input);
  // Once, at the end: gives the spans to the tracer.
  void End(const TracedCall& call) const;

 private:
  struct Record {
    Tracer& tracer;
    TraceContext context;  // the call's span
    std::optional<TraceContext> parent;
    std::string tracestate;
    std::string http_method;
    std::string http_path;
    absl::Time tokens_begin = absl::InfinitePast();
    absl::Time tokens_end = absl::InfinitePast();
    std::vector<InputTrace> inputs = {};
  };

  Span NewSpan(const char* name, absl::Time begin, absl::Time end) const;
  Span SpanOf(const TracedCall& call) const;
  // The span of a phase, if the input was in it.
  void AddPhase(const char* name, int input, absl::Time begin, absl::Time end,
                const PhaseSteps& steps, std::vector<Span>& spans) const;
  void AddSpans(int input, std::vector<Span>& spans) const;

  TraceId id_ = {};
  std::unique_ptr<Record> record_;  // null: not sampled
};

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_CALL_TRACE_H_
