#include "server/tracing/tracing_options.h"

#include <gmock/gmock.h>

#include <map>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class TracingOptionsTest : public ::testing::Test {
 protected:
  TracingOptions Read(std::map<std::string, std::string> variables,
                      absl::string_view flag = "") {
    warnings_.clear();
    return ReadTracingOptions(
        flag,
        [&](const char* name) {
          const auto found = variables.find(name);
          return found == variables.end() ? nullptr : found->second.c_str();
        },
        warnings_);
  }
  // With an endpoint, so that the rest is read.
  TracingOptions ReadOn(std::map<std::string, std::string> variables) {
    return Read(std::move(variables), "http://localhost:4317");
  }

  std::vector<std::string> warnings_;
};

TEST_F(TracingOptionsTest, WithoutAnEndpointNothingIsExported) {
  EXPECT_EQ(Read({}).endpoint.target, "");
  EXPECT_EQ(Read({{"OTEL_SERVICE_NAME", "x"}}).endpoint.target, "");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(TracingOptionsTest, TheMoreSpecialEndpointWins) {
  std::map<std::string, std::string> variables = {
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1"}};
  EXPECT_EQ(Read(variables).endpoint.target, "all:1");
  variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] =
      "https://traces:2/v1/traces";
  EXPECT_EQ(Read(variables).endpoint.target, "traces:2");
  EXPECT_TRUE(Read(variables).endpoint.tls);
  EXPECT_EQ(Read(variables, "flag:3").endpoint.target, "flag:3");
  variables["OTEL_SDK_DISABLED"] = "TRUE";
  EXPECT_EQ(Read(variables, "flag:3").endpoint.target, "");
  variables["OTEL_SDK_DISABLED"] = "no";
  EXPECT_EQ(Read(variables, "flag:3").endpoint.target, "flag:3");
  variables["OTEL_TRACES_EXPORTER"] = "none";
  EXPECT_EQ(Read(variables, "flag:3").endpoint.target, "");
  EXPECT_THAT(warnings_, IsEmpty());
}

// As OpenTelemetry says, keys of headers do not go in clear by accident.
TEST_F(TracingOptionsTest, WithoutASchemeTlsIsUsedUnlessAVariableSaysNo) {
  EXPECT_TRUE(Read({}, "flag:3").endpoint.tls);
  EXPECT_FALSE(
      Read({{"OTEL_EXPORTER_OTLP_INSECURE", "true"}}, "flag:3").endpoint.tls);
  EXPECT_TRUE(Read({{"OTEL_EXPORTER_OTLP_INSECURE", "true"},
                    {"OTEL_EXPORTER_OTLP_ENDPOINT", "https://all"}})
                  .endpoint.tls);
  EXPECT_FALSE(Read({}, "HTTP://flag:3").endpoint.tls);
  EXPECT_TRUE(Read({}, "HTTPS://flag:3").endpoint.tls);
}

TEST_F(TracingOptionsTest, EndpointsAreRead) {
  for (const auto& [text, target] :
       std::map<std::string, std::string>{{"host", "host:4317"},
                                          {"http://host", "host:4317"},
                                          {"http://host:1/", "host:1"},
                                          {"https://[::1]:5", "[::1]:5"},
                                          {"http://[::1]", "[::1]:4317"}}) {
    ASSERT_TRUE(ParseOtlpEndpoint(text).ok()) << text;
    EXPECT_EQ(ParseOtlpEndpoint(text)->target, target);
  }
  for (const char* wrong :
       {"", "http://", "/v1/traces", "a b", "\x80", "ftp://h:1",
        "unix:///run/x", "http://h:", "http://h:0", "http://h:65536",
        "http://h:+1", "http://user:secret@h:1", "http://::1", "http://[::1",
        "http://[]:1"}) {
    const absl::Status status = ParseOtlpEndpoint(wrong).status();
    EXPECT_THAT(status.message(), HasSubstr("must be like http://host:4317"))
        << wrong;
    EXPECT_EQ(status.message().find("secret"), absl::string_view::npos);
  }
}

TEST_F(TracingOptionsTest, WithoutOtherVariablesTheDefaultsHold) {
  const TracingOptions options = ReadOn({{"OTEL_TRACES_SAMPLER", " "}});
  EXPECT_THAT(options.headers, IsEmpty());
  EXPECT_THAT(options.resource, ElementsAre(Pair("service.name", "attend")));
  EXPECT_EQ(options.timeout, absl::Seconds(10));
  EXPECT_TRUE(options.sampler.follow_parent);
  EXPECT_EQ(options.sampler.share, 1);
  EXPECT_EQ(options.queue.max_spans, 2048);
  EXPECT_EQ(options.queue.max_batch_spans, 512);
  EXPECT_EQ(options.queue.delay, absl::Seconds(5));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(TracingOptionsTest, VariablesAreRead) {
  const TracingOptions options =
      ReadOn({{"OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=a%20b%2Cc, x=1=2"},
              {"OTEL_RESOURCE_ATTRIBUTES",
               "deployment.environment=test,service.name=from-attributes"},
              {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
              {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
              {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
              {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
              {"OTEL_BSP_MAX_QUEUE_SIZE", "100"},
              {"OTEL_BSP_SCHEDULE_DELAY", "20"}});
  EXPECT_THAT(options.headers,
              ElementsAre(Pair("api-key", "a b,c"), Pair("x", "1=2")));
  EXPECT_THAT(options.resource,
              ElementsAre(Pair("service.name", "from-attributes"),
                          Pair("deployment.environment", "test")));
  EXPECT_EQ(options.timeout, absl::Milliseconds(2500));
  EXPECT_TRUE(options.gzip);
  EXPECT_EQ(options.ca_file, "/ca.pem");
  EXPECT_EQ(options.queue.max_spans, 100);
  EXPECT_EQ(options.queue.max_batch_spans, 100);  // no more than the queue has
  EXPECT_EQ(options.queue.delay, absl::Milliseconds(20));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(ReadOn({{"OTEL_SERVICE_NAME", "name"},
                      {"OTEL_RESOURCE_ATTRIBUTES", "service.name=x"}})
                  .resource,
              ElementsAre(Pair("service.name", "name")));
  EXPECT_EQ(ReadOn({{"OTEL_BSP_EXPORT_TIMEOUT", "300"}}).timeout,
            absl::Milliseconds(300));
}

TEST_F(TracingOptionsTest, SamplersAreThoseOfOpenTelemetry) {
  const auto sampler = [&](const char* name, const char* argument) {
    return ReadOn({{"OTEL_TRACES_SAMPLER", name},
                   {"OTEL_TRACES_SAMPLER_ARG", argument}})
        .sampler;
  };
  EXPECT_FALSE(sampler("always_on", "0.5").follow_parent);
  EXPECT_EQ(sampler("always_on", "0.5").share, 1);
  EXPECT_EQ(sampler("always_off", "").share, 0);
  EXPECT_FALSE(sampler("traceidratio", "0.5").follow_parent);
  EXPECT_EQ(sampler("traceidratio", "0.5").share, 0.5);
  EXPECT_EQ(sampler("traceidratio", "").share, 1);
  EXPECT_TRUE(sampler("parentbased_always_on", "").follow_parent);
  EXPECT_EQ(sampler("parentbased_always_off", "").share, 0);
  EXPECT_TRUE(sampler("parentbased_traceidratio", "0.1").follow_parent);
  EXPECT_EQ(sampler("parentbased_traceidratio", "0.1").share, 0.1);
  EXPECT_THAT(warnings_, IsEmpty());
}

// A variable that cannot be used has its default, and its value is no secret
// in the log.
TEST_F(TracingOptionsTest, WhatCannotBeUsedIsWarnedOf) {
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"OTEL_TRACES_SAMPLER", "jaeger_remote"},
           {"OTEL_TRACES_EXPORTER", "zipkin"},
           {"OTEL_BSP_MAX_QUEUE_SIZE", "0"},
           {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "secret"},
           {"OTEL_BSP_SCHEDULE_DELAY", "-1"},
           {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
           {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
           {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
           {"OTEL_EXPORTER_OTLP_HEADERS", "secret"},
           {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=%secret"},
           {"OTEL_RESOURCE_ATTRIBUTES", "=secret"}}) {
    const TracingOptions options = ReadOn({{name, value}});
    ASSERT_THAT(warnings_, SizeIs(1)) << name;
    EXPECT_THAT(warnings_[0], HasSubstr(name + " is ignored: "));
    EXPECT_EQ(warnings_[0].find("secret"), std::string::npos);
    EXPECT_EQ(options.queue.max_spans, 2048);
    EXPECT_EQ(options.timeout, absl::Seconds(10));
    EXPECT_EQ(options.endpoint.target, "localhost:4317");
  }
  EXPECT_EQ(ReadOn({{"OTEL_TRACES_SAMPLER", "traceidratio"},
                    {"OTEL_TRACES_SAMPLER_ARG", "2"}})
                .sampler.share,
            1);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("OTEL_TRACES_SAMPLER_ARG is ignored"));
  EXPECT_EQ(Read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://"}}).endpoint.target,
            "");
  EXPECT_THAT(warnings_, SizeIs(1));
}

// gRPC would end the process.
TEST_F(TracingOptionsTest, HeadersThatGrpcRefusesAreLeftOut) {
  for (const char* wrong : {"a b=1", "grpc-x=1", "x-bin=1", "Grpc-Timeout=1",
                            "X-Bin=1", "a=%0A", "\xc3=1"}) {
    EXPECT_THAT(ReadOn({{"OTEL_EXPORTER_OTLP_HEADERS", wrong}}).headers,
                IsEmpty())
        << wrong;
    EXPECT_THAT(warnings_, SizeIs(1)) << wrong;
  }
}

}  // namespace
}  // namespace attend
