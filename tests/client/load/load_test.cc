#include "client/cpp/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/cpp/load/report.h"
#include "tests/client/fake/fake_service.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Load MakeLoad(const std::vector<std::string>& texts) {
  Load load;
  for (const std::string& text : texts) {
    v1::GenerateRequest request;
    request.add_inputs()->set_text(text);
    load.requests.push_back(
        MakeLoadRequest<v1::GenerateResponse>("Generate", std::move(request)));
  }
  return load;
}

TEST(LoadTest, ClosedLoopOfStreams) {
  FakeService service;
  Load load = MakeLoad({"a b c", "d e"});
  load.count = 41;
  load.concurrency = 4;
  const LoadResult result =
      LoadGenerator({.address = service.address()}).Run(load);
  EXPECT_EQ(service.calls(), 41);
  EXPECT_LE(service.most_in_flight(), 4);
  ASSERT_EQ(result.calls.size(), 41);
  int64_t tokens = 0;
  for (const CallRecord& call : result.calls) {
    EXPECT_EQ(call.code, absl::StatusCode::kOk);
    EXPECT_EQ(static_cast<int64_t>(call.gaps.size()), call.tokens - 1);
    EXPECT_GT(call.first_token, absl::ZeroDuration());
    EXPECT_GE(call.total, call.first_token);
    EXPECT_LE(call.total, result.elapsed);
    tokens += call.tokens;
  }
  EXPECT_EQ(tokens, 21 * 3 + 20 * 2);
}

TEST(LoadTest, SaysWhatHasEnded) {
  FakeService service;
  Load load = MakeLoad({"a b"});
  load.count = 12;
  std::vector<int64_t> ended;
  load.on_end = [&](int64_t count) { ended.push_back(count); };
  const LoadResult result =
      LoadGenerator({.address = service.address()}).Run(load);
  ASSERT_EQ(ended.size(), 12);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(ended[i], i + 1);
  absl::Duration last = absl::ZeroDuration();
  for (const CallRecord& call : result.calls) {
    EXPECT_GE(call.end, last);
    EXPECT_GE(call.end, call.total);
    last = call.end;
  }
  EXPECT_LE(last, result.elapsed);
}

// The fake says 2 ms of the first input of a call, and 1 ms more of each other.
TEST(LoadTest, QueueTimesAreThoseOfTheServer) {
  FakeService service;
  v1::GenerateRequest request;
  request.add_inputs()->set_text("a");
  request.add_inputs()->set_text("b");
  v1::EmbedRequest embed;  // it says none of these
  embed.add_inputs()->set_text("a");
  Load load;
  load.count = 4;
  for (const bool stream : {true, false}) {
    load.stream = stream;
    load.requests = {
        MakeLoadRequest<v1::GenerateResponse>("Generate", request)};
    LoadGenerator generator({.address = service.address()});
    const BenchReport report = MakeReport(generator.Run(load), stream);
    EXPECT_EQ(report.queue.count, 4);
    EXPECT_EQ(report.queue.p50, absl::Milliseconds(3));
    EXPECT_EQ(nlohmann::json::parse(ToJson(report))["queue_seconds"]["max"],
              0.003);
    EXPECT_THAT(ToTable(report), HasSubstr("queue             3.00"));
    load.requests = {MakeLoadRequest<v1::EmbedResponse>("Embed", embed)};
    EXPECT_EQ(MakeReport(generator.Run(load), stream).queue.count, 0);
  }
}

TEST(LoadTest, UnaryCallsHaveNoTokenTimes) {
  FakeService service;
  Load load = MakeLoad({"a b c"});
  load.count = 5;
  load.stream = false;
  const LoadResult result =
      LoadGenerator({.address = service.address()}).Run(load);
  ASSERT_EQ(result.calls.size(), 5);
  for (const CallRecord& call : result.calls) {
    EXPECT_EQ(call.tokens, 3);
    EXPECT_EQ(call.first_token, absl::ZeroDuration());
    EXPECT_TRUE(call.gaps.empty());
  }
}

TEST(LoadTest, CallsOfEncoders) {
  FakeService service;
  v1::EmbedRequest embed;
  embed.add_inputs()->set_text("a b");
  v1::ClassifyRequest classify;
  classify.add_inputs()->set_text("a");
  v1::FillMaskRequest fill_mask;
  fill_mask.add_inputs()->set_text("a");
  v1::RerankRequest rerank;
  rerank.add_documents("a");
  rerank.add_documents("b");
  Load load;
  load.requests = {MakeLoadRequest<v1::EmbedResponse>("Embed", embed),
                   MakeLoadRequest<v1::ClassifyResponse>("Classify", classify),
                   MakeLoadRequest<v1::FillMaskResponse>("FillMask", fill_mask),
                   MakeLoadRequest<v1::RerankResponse>("Rerank", rerank)};
  load.count = 8;
  load.concurrency = 1;
  const BenchReport report = MakeReport(
      LoadGenerator({.address = service.address()}).Run(load), load.stream);
  EXPECT_EQ(report.succeeded, 8);
  EXPECT_EQ(report.inputs, 2 * 5);
  EXPECT_EQ(report.source_tokens, 2 * 2);
  EXPECT_EQ(service.last_rerank().documents_size(), 2);
}

TEST(LoadTest, OpenLoopStartsCallsThatDoNotWaitForOthers) {
  FakeService service;
  Load load = MakeLoad({"hang"});
  load.count = 6;
  load.rate = 1000;
  load.timeout = absl::Milliseconds(200);
  const LoadResult result =
      LoadGenerator({.address = service.address()}).Run(load);
  ASSERT_EQ(result.calls.size(), 6);
  // In a closed loop of one each would have waited for the one before.
  EXPECT_LT(result.elapsed, 6 * load.timeout);
  for (const CallRecord& call : result.calls) {
    EXPECT_EQ(call.code, absl::StatusCode::kDeadlineExceeded);
    EXPECT_GE(call.total, load.timeout);
  }
}

TEST(LoadTest, CountsErrorsByCodeAndDoesNotRetry) {
  FakeService service;
  for (bool stream : {true, false}) {
    service.Fail({{.status = absl::UnavailableError("")},
                  {.status = absl::ResourceExhaustedError("")},
                  {.status = absl::UnavailableError("")}});
    Load load = MakeLoad({"fine words", "bad"});
    load.count = 10;
    load.concurrency = 1;
    load.stream = stream;
    const BenchReport report = MakeReport(
        LoadGenerator({.address = service.address()}).Run(load), load.stream);
    EXPECT_THAT(report.errors,
                UnorderedElementsAre(Pair("UNAVAILABLE", 2),
                                     Pair("RESOURCE_EXHAUSTED", 1),
                                     Pair("INVALID_ARGUMENT", 4)));
    EXPECT_EQ(report.succeeded, 3);
    EXPECT_EQ(report.tokens, 6);
    EXPECT_EQ(report.end_to_end.count, 3);
    EXPECT_EQ(report.first_token.count, stream ? 3 : 0);
    EXPECT_EQ(report.inter_token.count, stream ? 3 : 0);
  }
  EXPECT_EQ(service.calls(), 20);
}

TEST(LoadTest, BackgroundRunsMeanwhileAndIsCancelled) {
  FakeService service;
  Load load = MakeLoad({"a b"});
  load.count = 50;
  load.concurrency = 1;
  Load background = MakeLoad({"hang"});
  background.concurrency = 2;
  background.timeout = absl::InfiniteDuration();
  {
    LoadGenerator generator({.address = service.address()});
    const LoadResult result = generator.Run(load, &background);
    EXPECT_EQ(result.calls.size(), 50);
  }
  EXPECT_EQ(service.calls(), 52);
}

TEST(ReportTest, Figures) {
  LoadResult result{.calls = {}, .elapsed = absl::Seconds(2)};
  result.calls.push_back(
      {.code = absl::StatusCode::kOk,
       .first_token = absl::Milliseconds(20),
       .gaps = {absl::Milliseconds(2), absl::Milliseconds(4)},
       .total = absl::Milliseconds(30),
       .tokens = 3,
       .source_tokens = 10,
       .inputs = 4});
  result.calls.push_back({.code = absl::StatusCode::kUnavailable,
                          .first_token = absl::Seconds(9),
                          .gaps = {absl::Seconds(9)},
                          .total = absl::Seconds(9),
                          .tokens = 1});
  const BenchReport report = MakeReport(result, /*stream=*/true);
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["succeeded"], 1);
  EXPECT_EQ(json["errors"]["UNAVAILABLE"], 1);
  EXPECT_EQ(json["requests_per_second"], 0.5);
  EXPECT_EQ(json["tokens_per_second"], 1.5);
  EXPECT_EQ(json["source_tokens_per_second"], 5);
  EXPECT_EQ(json["inputs_per_second"], 2);
  EXPECT_EQ(json["first_token_seconds"]["p99"], 0.02);
  EXPECT_EQ(json["inter_token_seconds"]["p50"], 0.002);
  EXPECT_EQ(json["inter_token_seconds"]["max"], 0.004);
  EXPECT_EQ(json["end_to_end_seconds"]["count"], 1);
  EXPECT_THAT(ToTable(report), HasSubstr("1 UNAVAILABLE"));

  const BenchReport unary = MakeReport(result, /*stream=*/false);
  EXPECT_FALSE(
      nlohmann::json::parse(ToJson(unary)).contains("first_token_seconds"));
}

TEST(ReportTest, InterferenceRatio) {
  InterferenceReport report;
  EXPECT_EQ(report.Ratio(), 0);
  report.quiet.inter_token = Summarize({absl::Milliseconds(4)});
  report.busy.inter_token = Summarize({absl::Milliseconds(6)});
  EXPECT_DOUBLE_EQ(report.Ratio(), 1.5);
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["p99_inter_token_ratio"],
            1.5);
}

}  // namespace
}  // namespace attend
