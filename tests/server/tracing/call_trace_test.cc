#include "server/tracing/call_trace.h"

#include <gmock/gmock.h>

#include "server/observability/metrics.h"
#include "tests/support/taken_spans.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTraceparent[] =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr char kTraceId[] = "0af7651916cd43dd8448eb211c80319c";

absl::Time At(int millis) { return absl::FromUnixMillis(1000000 + millis); }

// The value of an attribute; a text that no attribute has if it is missing.
SpanAttribute Attribute(const Span& span, absl::string_view key) {
  for (const SpanAttribute& attribute : span.attributes) {
    if (attribute.key == key) return attribute;
  }
  return {"", std::string("(missing)")};
}
int64_t Int(const Span& span, absl::string_view key) {
  const SpanAttribute found = Attribute(span, key);
  return found.kind == SpanAttribute::kInt ? found.integer : -1;
}
double Double(const Span& span, absl::string_view key) {
  const SpanAttribute found = Attribute(span, key);
  return found.kind == SpanAttribute::kReal ? found.real : -1;
}
std::string Text(const Span& span, absl::string_view key) {
  const SpanAttribute found = Attribute(span, key);
  return found.kind == SpanAttribute::kText ? found.text : "(no text)";
}

// An input that was encoded, had a prompt in two steps, and was decoded.
InputTrace Input() {
  return {.times = {.arrival = At(10),
                    .started = At(20),
                    .encoded = At(30),
                    .prompted = At(45),
                    .first_token = At(45),
                    .ended = At(100),
                    .encode = {.steps = 1, .rows = 30, .inputs = 3},
                    .prompt = {.steps = 2, .rows = 50, .inputs = 5},
                    .decode = {.steps = 4, .rows = 10, .inputs = 10}},
          .input_tokens = 7,
          .output_tokens = 5};
}

class CallTraceTest : public ::testing::Test {
 protected:
  // All spans of the trace, by now.
  std::vector<Span> End(CallTrace& trace, TracedCall call = Call()) {
    trace.End(call);
    return TakenSpans(tracer_.queue());
  }
  static TracedCall Call() {
    return {.method = "attend.v1.Attend/Translate",
            .begin = At(0),
            .end = At(120),
            .status = absl::OkStatus(),
            .request_id = "id",
            .model = "m",
            .inputs = 1,
            .input_tokens = 7,
            .output_tokens = 5};
  }

  Metrics metrics_{"1", {}};
  Tracer tracer_{{},
                 {.max_spans = 100,
                  .max_batch_spans = 100,
                  .delay = absl::Milliseconds(1)},
                 metrics_.spans(),
                 1};
};

TEST_F(CallTraceTest, ACallIsAChildOfItsCaller) {
  CallTrace trace;
  trace.Begin({.traceparent = kTraceparent, .tracestate = "a=1, b=2"},
              &tracer_);
  ASSERT_TRUE(trace.sampled());
  EXPECT_EQ(trace.id(), kTraceId);
  const std::vector<Span> spans = End(trace);
  ASSERT_THAT(spans, SizeIs(1));
  const Span& span = spans[0];
  EXPECT_EQ(ToHex(span.trace_id), kTraceId);
  EXPECT_EQ(span.parent,
            (SpanId{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}));
  EXPECT_TRUE(span.parent_is_remote);
  EXPECT_TRUE(span.is_call);
  EXPECT_NE(span.id, SpanId{});
  EXPECT_NE(span.id, span.parent);
  EXPECT_EQ(span.tracestate, "a=1,b=2");
  EXPECT_EQ(span.name, "attend.v1.Attend/Translate");
  EXPECT_EQ(span.begin, At(0));
  EXPECT_EQ(span.end, At(120));
  EXPECT_EQ(span.error, "");
  EXPECT_EQ(Text(span, "rpc.system"), "grpc");
  EXPECT_EQ(Text(span, "rpc.service"), "attend.v1.Attend");
  EXPECT_EQ(Text(span, "rpc.method"), "Translate");
  EXPECT_EQ(Int(span, "rpc.grpc.status_code"), 0);
  EXPECT_EQ(Text(span, "attend.request_id"), "id");
  EXPECT_EQ(Text(span, "attend.model"), "m");
  EXPECT_EQ(Attribute(span, "attend.tenant").key, std::string());
  EXPECT_EQ(Int(span, "attend.inputs"), 1);
  EXPECT_EQ(Int(span, "attend.input_tokens"), 7);
  EXPECT_EQ(Int(span, "attend.output_tokens"), 5);
}

TEST_F(CallTraceTest, ACallWithoutACallersTraceBeginsOne) {
  CallTrace first, second;
  first.Begin({.traceparent = "malformed", .tracestate = "a=1"}, &tracer_);
  second.Begin({}, &tracer_);
  EXPECT_NE(first.id(), second.id());
  EXPECT_THAT(first.id(), SizeIs(32));
  const std::vector<Span> spans = End(first);
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0].parent, SpanId{});
  EXPECT_FALSE(spans[0].parent_is_remote);
  EXPECT_EQ(spans[0].tracestate, "");
}

TEST_F(CallTraceTest, PhasesOfAnInputFollowEachOther) {
  CallTrace trace;
  trace.Begin({.traceparent = kTraceparent}, &tracer_);
  trace.BeginTokens(At(5));
  trace.EndTokens(At(9));
  trace.AddInput(Input());
  const std::vector<Span> spans = End(trace);
  ASSERT_THAT(spans, SizeIs(6));
  struct Expected {
    const char* name;
    int begin, end;
  };
  const Expected expected[] = {{"tokenise", 5, 9},
                               {"queue", 10, 20},
                               {"encode", 20, 30},
                               {"prompt", 30, 45},
                               {"decode", 45, 100}};
  for (int i = 0; i < 5; ++i) {
    const Span& span = spans[i + 1];
    EXPECT_EQ(span.name, expected[i].name);
    EXPECT_EQ(span.begin, At(expected[i].begin)) << span.name;
    EXPECT_EQ(span.end, At(expected[i].end)) << span.name;
    EXPECT_EQ(span.trace_id, spans[0].trace_id);
    EXPECT_EQ(span.parent, spans[0].id);
    EXPECT_FALSE(span.parent_is_remote);
    EXPECT_FALSE(span.is_call);
    EXPECT_NE(span.id, spans[i].id);
  }
  EXPECT_EQ(Int(spans[2], "attend.input_tokens"), 7);
  EXPECT_EQ(Int(spans[4], "attend.steps"), 2);
  EXPECT_EQ(Double(spans[4], "attend.batch_rows"), 25);
  EXPECT_EQ(Double(spans[4], "attend.batch_inputs"), 2.5);
  EXPECT_EQ(Int(spans[5], "attend.steps"), 4);
  EXPECT_EQ(Int(spans[5], "attend.output_tokens"), 5);
}

TEST_F(CallTraceTest, AnInputThatEndsEarlyHasThePhasesThatItWasIn) {
  CallTrace trace;
  trace.Begin({}, &tracer_);
  InputTrace waiting = Input();
  waiting.times = {.arrival = At(10), .ended = At(50)};
  trace.AddInput(waiting);
  InputTrace encoding = Input();
  encoding.times = {.arrival = At(10),
                    .started = At(20),
                    .ended = At(60),
                    .encode = {.steps = 1, .rows = 1, .inputs = 1}};
  trace.AddInput(encoding);
  const std::vector<Span> spans = End(trace);
  ASSERT_THAT(spans, SizeIs(4));
  EXPECT_EQ(spans[1].name, "queue");
  EXPECT_EQ(spans[1].end, At(50));
  EXPECT_EQ(spans[2].name, "queue");
  EXPECT_EQ(Int(spans[2], "attend.input"), 1);
  EXPECT_EQ(spans[3].name, "encode");
  EXPECT_EQ(spans[3].end, At(60));
}

TEST_F(CallTraceTest, OfManyInputsTheFirstHaveSpans) {
  CallTrace trace;
  trace.Begin({}, &tracer_);
  for (int i = 0; i < 100; ++i) trace.AddInput(Input());
  EXPECT_THAT(End(trace), SizeIs(1 + 4 * CallTrace::kMaxInputs));
}

TEST_F(CallTraceTest, ACallOverHttpHasTheNamesOfHttp) {
  CallTrace trace;
  trace.Begin({.http_method = "GET", .http_path = "/v1/models/x"}, &tracer_);
  TracedCall call = Call();
  call.method = "/v1/models/*";
  call.http_status = 404;
  call.status = absl::NotFoundError("no such model");
  const std::vector<Span> spans = End(trace, call);
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0].name, "GET /v1/models/*");
  EXPECT_EQ(Text(spans[0], "http.request.method"), "GET");
  EXPECT_EQ(Text(spans[0], "http.route"), "/v1/models/*");
  EXPECT_EQ(Text(spans[0], "url.path"), "/v1/models/x");
  EXPECT_EQ(Int(spans[0], "http.response.status_code"), 404);
  EXPECT_EQ(Attribute(spans[0], "rpc.system").key, std::string());
  EXPECT_EQ(spans[0].error, "");  // the client's mistake
}

TEST_F(CallTraceTest, AFailureOfTheServerIsAnError) {
  CallTrace trace;
  trace.Begin({}, &tracer_);
  TracedCall call = Call();
  call.status = absl::InternalError("step failed");
  const std::vector<Span> spans = End(trace, call);
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0].error, "INTERNAL: step failed");
  EXPECT_EQ(Int(spans[0], "rpc.grpc.status_code"), 13);
}

TEST_F(CallTraceTest, WhatIsNotSampledKeepsItsCallersId) {
  CallTrace without_tracer, unsampled, none;
  without_tracer.Begin({.traceparent = kTraceparent}, nullptr);
  EXPECT_FALSE(without_tracer.sampled());
  EXPECT_EQ(without_tracer.id(), kTraceId);
  std::string not_recorded = kTraceparent;
  not_recorded.back() = '0';
  unsampled.Begin({.traceparent = not_recorded}, &tracer_);
  EXPECT_FALSE(unsampled.sampled());
  EXPECT_EQ(unsampled.id(), kTraceId);
  Tracer off({.share = 0}, {}, metrics_.spans(), 1);
  none.Begin({}, &off);
  EXPECT_FALSE(none.sampled());
  EXPECT_EQ(none.id(), "");
}

TEST_F(CallTraceTest, WhatFindsNoRoomIsCounted) {
  Tracer full({}, {.max_spans = 2, .max_batch_spans = 2}, metrics_.spans(), 1);
  for (int i = 0; i < 3; ++i) {
    CallTrace trace;
    trace.Begin({}, &full);
    trace.End(Call());
  }
  EXPECT_THAT(metrics_.Serialize(),
              HasSubstr("attend_spans_dropped_total{reason=\"queue_full\"} 1"));
}

}  // namespace
}  // namespace attend
