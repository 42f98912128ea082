#include "server/otlp/otlp_exporter.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "server/observability/metrics.h"
#include "server/otlp/otlp_message.h"
#include "tests/support/span_collector.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr SpanQueueOptions kQueue = {
    .max_spans = 8, .max_batch_spans = 4, .delay = absl::Milliseconds(5)};

std::vector<Span> Spans(int count) {
  Span span = {.trace_id = {1},
               .id = {2},
               .parent = {3},
               .parent_is_remote = true,
               .is_call = true,
               .tracestate = "a=1",
               .name = "attend.v1.Attend/Translate",
               .begin = absl::FromUnixMillis(1500),
               .end = absl::FromUnixMillis(1750),
               .error = "",
               .attributes = {{"int", int64_t{7}},
                              {"double", 2.5},
                              {"text", std::string("caf\xc3\xa9")},
                              {"bytes", std::string("caf\xc3\xa9 \xff")}}};
  return std::vector<Span>(count, span);
}

class OtlpExporterTest : public ::testing::Test {
 protected:
  OtlpExporterTest() { options_.queue = kQueue; }
  ~OtlpExporterTest() override {
    exporter_.reset();
    log_.reset();  // its thread writes until then
    close(log_file_);
  }

  void Start(const std::string& endpoint) {
    options_.endpoint = *ParseOtlpEndpoint(endpoint);
    auto started =
        OtlpExporter::Start(options_, "1.2.3", queue_, metrics_.spans(),
                            log_.emplace(LogOptions(), log_file_));
    ASSERT_TRUE(started.ok()) << started.status();
    exporter_ = *std::move(started);
  }
  // How long the end takes.
  absl::Duration Stop() {
    const absl::Time begin = absl::Now();
    exporter_.reset();
    return absl::Now() - begin;
  }
  void ExpectCounted(const std::string& series, int count) {
    EXPECT_THAT(
        metrics_.Serialize(),
        HasSubstr(absl::StrCat("\nattend_spans_", series, " ", count, "\n")));
  }

  // How often the log has an event. Ends the log.
  int Logged(const std::string& event) {
    log_.reset();
    std::string text(static_cast<size_t>(lseek(log_file_, 0, SEEK_END)), ' ');
    EXPECT_EQ(pread(log_file_, text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
    const std::vector<std::string> parts =
        absl::StrSplit(text, "event=" + event + " ");
    return static_cast<int>(parts.size()) - 1;
  }

  const int log_file_ = memfd_create("log", 0);
  Metrics metrics_{"1", {}};
  SpanCollector collector_;
  TracingOptions options_;
  SpanQueue queue_{kQueue};
  std::optional<Log> log_;
  std::unique_ptr<OtlpExporter> exporter_;
};

TEST_F(OtlpExporterTest, ACollectorGetsAllOfASpan) {
  options_.headers = {{"api-key", "secret"}};
  options_.resource = {{"service.name", "test"}};
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(1)));
  ASSERT_TRUE(WaitUntil([&] { return collector_.spans().size() == 1; }));
  const auto resource = collector_.requests()[0].resource_spans(0);
  EXPECT_EQ(resource.resource().attributes(0).key(), "service.name");
  EXPECT_EQ(resource.resource().attributes(0).value().string_value(), "test");
  EXPECT_EQ(resource.scope_spans(0).scope().name(), "attend");
  EXPECT_EQ(resource.scope_spans(0).scope().version(), "1.2.3");
  const auto span = collector_.spans()[0];
  EXPECT_EQ(span.trace_id(), "\1" + std::string(15, '\0'));
  EXPECT_EQ(span.span_id(), "\2" + std::string(7, '\0'));
  EXPECT_EQ(span.parent_span_id(), "\3" + std::string(7, '\0'));
  EXPECT_EQ(span.trace_state(), "a=1");
  EXPECT_EQ(span.name(), "attend.v1.Attend/Translate");
  EXPECT_EQ(span.kind(), SpanCollector::OtlpSpan::KIND_SERVER);
  EXPECT_EQ(span.end_time_unix_nano() - span.start_time_unix_nano(),
            250'000'000);
  EXPECT_EQ(span.attributes(0).value().int_value(), 7);
  EXPECT_EQ(span.attributes(1).value().double_value(), 2.5);
  EXPECT_EQ(span.attributes(2).value().string_value(), "caf\xc3\xa9");
  EXPECT_EQ(span.attributes(3).value().string_value(),
            "caf\xc3\xa9 \xef\xbf\xbd");
  EXPECT_FALSE(span.has_status());
  EXPECT_EQ(span.flags(), 0x301);
  EXPECT_THAT(collector_.metadata(), Contains(Pair("api-key", "secret")));
  EXPECT_THAT(collector_.metadata(),
              Contains(Pair("user-agent", HasSubstr("attend-otlp/1.2.3"))));
  Stop();
  ExpectCounted("exported_total", 1);
}

// Spans have times of a clock that nobody sets; collectors, of the system's.
TEST(OtlpMessageTest, TimesAreThoseOfTheSystem) {
  const auto message = ToOtlp(Spans(1), {}, "1", absl::Seconds(3));
  const auto& span = message.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(span.start_time_unix_nano(), 4'500'000'000);
  EXPECT_EQ(span.end_time_unix_nano(), 4'750'000'000);
}

TEST_F(OtlpExporterTest, APartOfACallThatFailedSaysSo) {
  Start(collector_.endpoint());
  std::vector<Span> spans = Spans(1);
  spans[0].parent_is_remote = spans[0].is_call = false;
  spans[0].parent = {};
  spans[0].error = "INTERNAL: step failed";
  ASSERT_TRUE(queue_.Add(std::move(spans)));
  Stop();
  ASSERT_THAT(collector_.spans(), SizeIs(1));
  const auto span = collector_.spans()[0];
  EXPECT_EQ(span.kind(), SpanCollector::OtlpSpan::KIND_INTERNAL);
  EXPECT_EQ(span.parent_span_id(), "");
  EXPECT_EQ(span.flags(), 0x101);
  EXPECT_EQ(span.status().code(),
            opentelemetry::proto::collector::trace::v1::SpanStatus::CODE_ERROR);
  EXPECT_EQ(span.status().message(), "INTERNAL: step failed");
}

TEST_F(OtlpExporterTest, TheEndExportsWhatIsLeft) {
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(7)));
  EXPECT_LT(Stop(), OtlpExporter::kLastWords);
  EXPECT_THAT(collector_.spans(), SizeIs(7));
  EXPECT_EQ(collector_.exports(), 2);
}

TEST_F(OtlpExporterTest, ACollectorThatFailsForAWhileIsAskedAgain) {
  collector_.FailNext(1, {grpc::StatusCode::UNAVAILABLE, "soon"});
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(2)));
  ASSERT_TRUE(WaitUntil([&] { return collector_.spans().size() == 2; }));
  EXPECT_EQ(collector_.exports(), 2);
  Stop();
  ExpectCounted("exported_total", 2);
  ExpectCounted("dropped_total{reason=\"export_failed\"}", 0);
}

TEST_F(OtlpExporterTest, WhatACollectorRefusesIsDroppedAtOnce) {
  collector_.FailNext(1, {grpc::StatusCode::UNAUTHENTICATED, "who are you"});
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(2)));
  ASSERT_TRUE(WaitUntil([&] { return collector_.exports() == 1; }));
  collector_.Reject(1);
  ASSERT_TRUE(queue_.Add(Spans(3)));
  Stop();
  EXPECT_EQ(collector_.exports(), 2);
  EXPECT_EQ(Logged("spans_not_exported"), 1);
  EXPECT_EQ(Logged("spans_exported_again"), 1);
  EXPECT_EQ(Logged("spans_rejected"), 1);
  ExpectCounted("dropped_total{reason=\"export_failed\"}", 2);
  ExpectCounted("dropped_total{reason=\"rejected\"}", 1);
  ExpectCounted("exported_total", 2);
}

// Nobody waits for the collector, neither who adds spans nor the end.
TEST_F(OtlpExporterTest, ASlowCollectorHoldsUpNobody) {
  collector_.Hold();
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(4)));
  collector_.WaitUntilHeld();
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += queue_.Add(Spans(1));
  EXPECT_EQ(taken, 8);
  EXPECT_LT(Stop(), OtlpExporter::kLastWords + absl::Seconds(2));
  EXPECT_EQ(Logged("spans_not_exported"), 1);  // of two batches and more
  ExpectCounted("dropped_total{reason=\"export_failed\"}", 12);
}

TEST_F(OtlpExporterTest, WithoutACollectorTheEndIsAtOnce) {
  Start("http://127.0.0.1:1");  // nobody listens
  ASSERT_TRUE(queue_.Add(Spans(4)));
  absl::SleepFor(absl::Milliseconds(50));  // into the pause between two tries
  EXPECT_LT(Stop(), OtlpExporter::kLastWords);
  ExpectCounted("dropped_total{reason=\"export_failed\"}", 4);
}

TEST_F(OtlpExporterTest, ATimeoutEndsAnExport) {
  collector_.Hold();
  options_.timeout = absl::Milliseconds(50);
  Start(collector_.endpoint());
  ASSERT_TRUE(queue_.Add(Spans(4)));
  ASSERT_TRUE(WaitUntil([&] {
    return metrics_.Serialize().find("{reason=\"export_failed\"} 4") !=
           std::string::npos;
  }));
}

TEST_F(OtlpExporterTest, ACertificateThatCannotBeReadIsAnError) {
  options_.endpoint = *ParseOtlpEndpoint("https://localhost:1");
  options_.ca_file = "/does/not/exist.pem";
  const auto exporter =
      OtlpExporter::Start(options_, "1", queue_, metrics_.spans(),
                          log_.emplace(LogOptions(), log_file_));
  EXPECT_THAT(exporter.status().message(), HasSubstr("/does/not/exist.pem"));
}

}  // namespace
}  // namespace attend
