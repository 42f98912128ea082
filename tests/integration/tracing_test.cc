// What a call shows of itself under its caller's trace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/raw_http.h"
#include "tests/support/span_collector.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kTranslate[] = "/attend.v1.Attend/Translate";

std::string Traceparent(absl::string_view trace_id) {
  return absl::StrCat("00-", trace_id, "-b7ad6b7169203331-01");
}

grpc::Status Translate(const ServerProcess& server,
                       const std::string& traceparent) {
  grpc::ClientContext context;
  context.AddMetadata("traceparent", traceparent);
  context.AddMetadata("tracestate", "a=1");
  context.AddMetadata("tracestate", "b=2");
  v1::TranslateRequest request;
  request.add_documents("Hello.");
  request.set_target_language("de");
  return CallUnary(*RawChannel(server.address()), kTranslate,
                   request.SerializeAsString(), std::move(context))
      .status;
}

std::string Tokenize(const ServerProcess& server,
                     const std::string& traceparent,
                     const std::string& body = R"({"prompt":"Hello."})") {
  RawHttp client;
  EXPECT_TRUE(client.Connect(std::stoi(server.http_port())));
  client.Send(absl::StrCat(
      HttpRequestText(
          "POST", "/tokenize",
          absl::StrCat("Content-Length: ", body.size(),
                       "\r\nTraceparent: ", traceparent,
                       "\r\nTracestate: a=1\r\nTracestate: b=2\r\n")),
      body));
  return client.ReadAnswer();
}

TEST(TracingTest, TheLogLineOfACallHasTheIdOfItsTrace) {
  ServerProcess server;
  const std::string by_grpc(32, 'a'), by_http(32, 'b');
  const grpc::Status status = Translate(server, Traceparent(by_grpc));
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Tokenize(server, Traceparent(by_http)),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(Translate(server, Traceparent("not-a-trace")).ok());
  EXPECT_EQ(server.Stop(), 0);
  const std::string log = server.process().output();
  EXPECT_THAT(log, HasSubstr(absl::StrCat("trace=", by_grpc)));
  EXPECT_THAT(log, HasSubstr(absl::StrCat("trace=", by_http)));
  EXPECT_THAT(log, Not(HasSubstr("not-a-trace")));
}

// Variables that servers of a test see.
class ScopedVariables {
 public:
  explicit ScopedVariables(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~ScopedVariables() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }

 private:
  const std::map<std::string, std::string> variables_;
};

using OtlpSpan = SpanCollector::OtlpSpan;

// The spans of a trace by their names.
std::map<std::string, OtlpSpan> OfTrace(const std::vector<OtlpSpan>& spans,
                                        const std::string& trace_id) {
  std::map<std::string, OtlpSpan> found;
  for (const OtlpSpan& span : spans) {
    if (absl::BytesToHexString(span.trace_id()) == trace_id) {
      found[span.name()] = span;
    }
  }
  return found;
}

std::string Attribute(const OtlpSpan& span, const std::string& key) {
  for (const auto& attribute : span.attributes()) {
    if (attribute.key() != key) continue;
    const auto& value = attribute.value();
    return value.has_string_value() ? value.string_value()
                                    : absl::StrCat(value.int_value());
  }
  return "(missing)";
}

std::vector<std::string> NamesOf(const std::map<std::string, OtlpSpan>& spans) {
  std::vector<std::string> names;
  for (const auto& [name, span] : spans) names.push_back(name);
  return names;
}

// In the time of the parent, which says `parent` of itself.
void ExpectWithin(const OtlpSpan& span, const OtlpSpan& parent) {
  EXPECT_EQ(span.parent_span_id(), parent.span_id()) << span.name();
  EXPECT_GE(span.start_time_unix_nano(), parent.start_time_unix_nano());
  EXPECT_LE(span.start_time_unix_nano(), span.end_time_unix_nano());
  EXPECT_LE(span.end_time_unix_nano(), parent.end_time_unix_nano());
}

TEST(TracingTest, ACollectorSeesACallUnderItsCallersTrace) {
  SpanCollector collector;
  const ScopedVariables variables(
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()},
       {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret"},
       {"OTEL_SERVICE_NAME", "translations"},
       {"OTEL_BSP_SCHEDULE_DELAY", "20"}});
  ServerProcess server;
  const std::string by_grpc(32, 'a'), by_http(32, 'b');
  EXPECT_TRUE(Translate(server, Traceparent(by_grpc)).ok());
  EXPECT_THAT(Tokenize(server, Traceparent(by_http)),
              StartsWith("HTTP/1.1 200 "));
  const std::string wrong(32, 'c');
  EXPECT_THAT(Tokenize(server, Traceparent(wrong), "{"),
              StartsWith("HTTP/1.1 400 "));
  ASSERT_TRUE(Eventually([&] {
    return OfTrace(collector.spans(), by_grpc).size() >= 5 &&
           OfTrace(collector.spans(), by_http).size() == 2 &&
           OfTrace(collector.spans(), wrong).size() == 2;
  }));

  const auto translate = OfTrace(collector.spans(), by_grpc);
  const std::string name = "attend.v1.Attend/Translate";
  EXPECT_THAT(NamesOf(translate), IsSupersetOf({name.c_str(), "tokenise",
                                                "queue", "encode", "decode"}));
  const OtlpSpan& call = translate.at(name);
  EXPECT_EQ(absl::BytesToHexString(call.parent_span_id()), "b7ad6b7169203331");
  EXPECT_EQ(call.trace_state(), "a=1,b=2");
  EXPECT_EQ(Attribute(call, "rpc.grpc.status_code"), "0");
  EXPECT_EQ(Attribute(call, "attend.model"), kModelName);
  for (const auto& [child, span] : translate) {
    if (child != name) ExpectWithin(span, call);
  }
  EXPECT_EQ(Attribute(translate.at("encode"), "attend.steps"), "1");
  // A token is drafted and accepted, or takes a step.
  EXPECT_GT(std::stoi(Attribute(translate.at("decode"), "attend.steps")), 0);
  EXPECT_EQ(Attribute(translate.at("decode"), "attend.output_tokens"),
            Attribute(call, "attend.output_tokens"));
  // From now by the time of the day.
  EXPECT_NEAR(call.end_time_unix_nano() / 1e9, absl::ToUnixSeconds(absl::Now()),
              60);

  const auto tokenize = OfTrace(collector.spans(), by_http);
  ASSERT_EQ(tokenize.count("POST /tokenize"), 1);
  const OtlpSpan& over_http = tokenize.at("POST /tokenize");
  EXPECT_EQ(over_http.trace_state(), "a=1,b=2");
  EXPECT_EQ(Attribute(over_http, "http.response.status_code"), "200");
  ExpectWithin(tokenize.at("tokenise"), over_http);
  EXPECT_EQ(Attribute(OfTrace(collector.spans(), wrong).at("POST /tokenize"),
                      "http.response.status_code"),
            "400");

  EXPECT_NE(Attribute(call, "attend.request_id"), "(missing)");
  const auto resource = collector.requests()[0].resource_spans(0).resource();
  EXPECT_EQ(resource.attributes(0).value().string_value(), "translations");
  EXPECT_EQ(collector.metadata().count("api-key"), 1);
  EXPECT_TRUE(Eventually(
      [&] { return server.Metric("attend_spans_exported_total") >= 7; }));
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

// What waits is bounded, what is dropped is counted, and nobody waits.
TEST(TracingTest, WithoutACollectorCallsAndTheEndGoOn) {
  const ScopedVariables variables(
      {{"OTEL_BSP_MAX_QUEUE_SIZE", "6"}, {"OTEL_BSP_SCHEDULE_DELAY", "1"}});
  ServerProcess server({"--otlp-endpoint=http://127.0.0.1:1"});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Translate(server, Traceparent(std::string(32, 'a'))).ok());
  }
  EXPECT_TRUE(Eventually([&] {
    return server.Metric("attend_spans_dropped_total{reason=\"queue_full\"}") >
           0;
  }));
  const absl::Time begin = absl::Now();
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  EXPECT_THAT(server.process().output(), HasSubstr("event=spans_not_exported"));
}

TEST(TracingTest, AVariableThatCannotBeUsedIsWarnedOf) {
  const std::map<std::string, std::string> wrong = {
      {"OTEL_TRACES_SAMPLER", "sometimes"}};
  const ScopedVariables variables(wrong);
  ServerProcess server({"--otlp-endpoint=http://127.0.0.1:1"});
  EXPECT_THAT(server.process().output(),
              HasSubstr("OTEL_TRACES_SAMPLER is ignored"));
  EXPECT_EQ(server.Stop(), 0);
}

// Calls matter more than their traces.
TEST(TracingTest, ACertificateThatCannotBeReadTurnsTracingOff) {
  const std::map<std::string, std::string> wrong = {
      {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist.pem"}};
  const ScopedVariables variables(wrong);
  ServerProcess server({"--otlp-endpoint=https://127.0.0.1:1"});
  EXPECT_THAT(server.process().output(), HasSubstr("/does/not/exist.pem"));
  EXPECT_TRUE(Translate(server, Traceparent(std::string(32, 'a'))).ok());
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace attend
