#include "client/cpp/lib/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/client/fake/fake_service.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::GenerateRequest Request(const std::vector<std::string>& texts) {
  v1::GenerateRequest request;
  for (const std::string& text : texts) request.add_inputs()->set_text(text);
  return request;
}

class ClientTest : public ::testing::Test {
 protected:
  ClientOptions Options() {
    return {.address = service_.address(),
            .sleep = [this](absl::Duration d) { pauses_.push_back(d); }};
  }

  static FakeFailure Unavailable() {
    return {.status = absl::UnavailableError("draining")};
  }

  FakeService service_;
  std::vector<absl::Duration> pauses_;
  Client client_{Options()};
};

TEST_F(ClientTest, GenerateAnswersEachInput) {
  const auto response = client_.Generate(Request({"one two", "bad", "three"}));
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), 3);
  EXPECT_EQ(response->results(0).choices(0).text(), "ONE TWO");
  EXPECT_EQ(response->results(1).status().code(), 3);
  EXPECT_EQ(response->results(2).choices(0).text(), "THREE");
}

TEST_F(ClientTest, StreamComesInOrder) {
  std::vector<std::string> texts;
  bool ended = false;
  const absl::Status status = client_.GenerateStream(
      Request({"a b c"}), [&](const v1::GenerateChunk& chunk) {
        EXPECT_FALSE(ended);
        if (!chunk.text().empty()) texts.push_back(chunk.text());
        ended = chunk.has_status();
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ended);
  EXPECT_THAT(texts, ElementsAre("A ", "B ", "C "));
}

TEST_F(ClientTest, AProfileComesInPieces) {
  service_.Fail({Unavailable()});
  std::string trace;
  const auto add = [&](absl::string_view piece) {
    trace.append(piece.data(), piece.size());
    return true;
  };
  EXPECT_TRUE(client_.Profile(absl::Seconds(7), add).ok());
  EXPECT_EQ(trace, "{\"seconds\": 7}");
  EXPECT_EQ(pauses_.size(), 1u);
  EXPECT_EQ(client_.Profile(absl::Seconds(13), add).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(
      client_.Profile(absl::Seconds(7), [](absl::string_view) { return false; })
          .code(),
      absl::StatusCode::kCancelled);
}

TEST_F(ClientTest, StreamCanBeCancelled) {
  int chunks = 0;
  const absl::Status status =
      client_.GenerateStream(Request({"a b c"}), [&](const v1::GenerateChunk&) {
        ++chunks;
        return false;
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(chunks, 1);
}

TEST_F(ClientTest, OtherMethods) {
  v1::ScoreRequest score;
  score.add_pairs()->mutable_target()->set_text("x y");
  EXPECT_EQ(client_.Score(score)->results(0).log_prob(), -2);

  v1::TokenizeRequest tokenize;
  tokenize.add_texts("a bcd");
  EXPECT_THAT(client_.Tokenize(tokenize)->results(0).ids(), ElementsAre(1, 3));

  v1::DetokenizeRequest detokenize;
  detokenize.add_sequences()->add_ids(7);
  EXPECT_EQ(client_.Detokenize(detokenize)->results(0).text(), "ids 7");

  EXPECT_EQ(client_.ListModels()->models(0).name(), "capitals");
  EXPECT_EQ(client_.GetModel("")->name(), "capitals");
}

TEST_F(ClientTest, ErrorKeepsCodeAndMessage) {
  const absl::Status status = client_.GetModel("other").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "model \"other\" is not served");
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(ClientTest, SendsMetadata) {
  ClientOptions options = Options();
  options.metadata = {{"x-request-id", "id-7"}};
  Client client(options);
  ASSERT_TRUE(client.ListModels().ok());
  EXPECT_EQ(service_.request_id(), "id-7");
  ASSERT_TRUE(
      client_.ListModels({.metadata = {{"x-request-id", "id-8"}}}).ok());
  EXPECT_EQ(service_.request_id(), "id-8");
}

TEST_F(ClientTest, TheModelIsOfRequestsThatNameNone) {
  ClientOptions options = Options();
  options.model = "large";
  Client client(options);
  v1::GenerateRequest request = Request({"a"});
  const auto last_model = [&] { return service_.last_generate().model(); };
  const auto any = [](const v1::GenerateChunk&) { return true; };
  ASSERT_TRUE(client.Generate(request).ok());
  EXPECT_EQ(last_model(), "large");
  request.set_model("small");
  ASSERT_TRUE(client.Generate(request).ok());
  EXPECT_EQ(last_model(), "small");
  ASSERT_TRUE(client.GenerateStream(Request({"a"}), any).ok());
  EXPECT_EQ(last_model(), "large");
  ASSERT_TRUE(client.GenerateStream(request, any).ok());
  EXPECT_EQ(last_model(), "small");
  EXPECT_EQ(client.GetModel("")->name(), "capitals");
}

TEST_F(ClientTest, ACallThatIsCancelledBeforeItBeginsIsNotMade) {
  Cancellation cancellation;
  cancellation.Cancel();
  EXPECT_EQ(client_.Generate(Request({"a"}), {.cancellation = &cancellation})
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(ClientTest, CancellingEndsAPause) {
  ClientOptions options = Options();
  options.sleep = nullptr;
  options.timeout = absl::InfiniteDuration();
  // More than a clock has.
  service_.Fail({{.status = absl::UnavailableError("draining"),
                  .pushback_ms = "9000000000000000000"}});
  Cancellation cancellation;
  std::thread other([&] {
    while (service_.calls() == 0) std::this_thread::yield();
    cancellation.Cancel();
  });
  EXPECT_EQ(Client(options)
                .Generate(Request({"a"}), {.cancellation = &cancellation})
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  other.join();
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(ClientTest, AddressesMustBeWhatTheySay) {
  ClientOptions options = Options();
  options.address = service_.address() + ", nowhere";
  const absl::Status status = Client(options).ListModels().status();
  EXPECT_EQ(status,
            absl::InvalidArgumentError("address 'nowhere' must be HOST:PORT"));
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(ClientTest, CallsGoToAllServers) {
  FakeService other;
  ClientOptions options = Options();
  options.address = service_.address() + ", " + other.address();
  Client client(options);
  while (service_.calls() == 0 || other.calls() == 0) {
    ASSERT_TRUE(client.ListModels().ok());
  }
}

TEST_F(ClientTest, TextThatIsNotUtf8IsNotSent) {
  const auto response = client_.Generate(Request({"good", "\xff"}));
  EXPECT_EQ(response.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(response.status().message()), HasSubstr("inputs[1]"));
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(ClientTest, DeadlineEndsACall) {
  ClientOptions options = Options();
  options.timeout = absl::Milliseconds(50);
  Client client(options);
  EXPECT_EQ(client.Generate(Request({"hang"})).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  const auto never = [](const v1::GenerateChunk&) { return true; };
  EXPECT_EQ(client.GenerateStream(Request({"hang"}), never).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(ClientTest, DeadlineOfOneCall) {
  EXPECT_EQ(
      client_.Generate(Request({"hang"}), {.timeout = absl::Milliseconds(50)})
          .status()
          .code(),
      absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, InfiniteTimeoutIsNoDeadline) {
  ClientOptions options = Options();
  options.timeout = absl::InfiniteDuration();
  service_.Fail({Unavailable()});
  EXPECT_TRUE(Client(options).ListModels().ok());
}

TEST_F(ClientTest, RetriesUnavailable) {
  service_.Fail({Unavailable(), Unavailable()});
  EXPECT_TRUE(client_.Generate(Request({"x"})).ok());
  EXPECT_EQ(service_.calls(), 3);
  ASSERT_EQ(pauses_.size(), 2);
  EXPECT_GT(pauses_[1], pauses_[0]);
}

TEST_F(ClientTest, RetriesAStreamThatHasNotBegun) {
  FakeFailure failure = Unavailable();
  failure.headers_first = true;
  service_.Fail({failure});
  int chunks = 0;
  const absl::Status status = client_.GenerateStream(
      Request({"x"}), [&](const v1::GenerateChunk&) { return ++chunks > 0; });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(chunks, 2);
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(ClientTest, AStreamThatBreaksOffIsMadeAgain) {
  const v1::GenerateRequest request = Request({"break"});
  int chunks = 0;
  const auto count = [&](const v1::GenerateChunk&) { return ++chunks > 0; };
  EXPECT_EQ(client_.GenerateStream(request, count).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(chunks, 1);
  EXPECT_EQ(service_.calls(), 4);

  ClientOptions options = Options();
  options.resume = false;
  EXPECT_EQ(Client(options).GenerateStream(request, count).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(chunks, 2);
  EXPECT_EQ(service_.calls(), 5);
}

TEST_F(ClientTest, WhatAProxyCutsOffIsMadeAgain) {
  service_.Fail(
      {{.status = absl::InternalError("Received RST_STREAM with error code 2")},
       {.status = absl::CancelledError("CANCELLED")}});
  EXPECT_TRUE(client_.ListModels().ok());
  EXPECT_EQ(service_.calls(), 3);
}

TEST_F(ClientTest, GivesUpAfterTheLastAttempt) {
  service_.Fail({Unavailable(), Unavailable(), Unavailable(), Unavailable()});
  EXPECT_EQ(client_.Generate(Request({"x"})).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(service_.calls(), 4);
}

TEST_F(ClientTest, HonoursPushback) {
  service_.Fail({{.status = absl::ResourceExhaustedError("queue is full"),
                  .pushback_ms = "1500"}});
  EXPECT_TRUE(client_.Generate(Request({"x"})).ok());
  EXPECT_THAT(pauses_, ElementsAre(absl::Milliseconds(1500)));
}

TEST_F(ClientTest, AnErrorSaysWhenToTryAgain) {
  service_.Fail(
      {{.status = absl::ResourceExhaustedError("queue is full"),
        .pushback_ms = "90000"},
       {.status = absl::UnavailableError("draining"), .pushback_ms = "-1"}});
  // The first is too late for the timeout.
  EXPECT_EQ(RetryAfter(client_.ListModels().status()), absl::Seconds(90));
  EXPECT_EQ(RetryAfter(client_.ListModels().status()), std::nullopt);
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(ClientTest, PushbackMayForbidRetry) {
  for (const char* pushback : {"-1", "never"}) {
    service_.Fail(
        {{.status = absl::UnavailableError("gone"), .pushback_ms = pushback}});
    EXPECT_FALSE(client_.ListModels().ok()) << pushback;
  }
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(ClientTest, FullWithoutHintIsFinal) {
  service_.Fail({{.status = absl::ResourceExhaustedError("too large")}});
  EXPECT_EQ(client_.ListModels().status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(ClientTest, NobodyThere) {
  ClientOptions options = Options();
  options.address = "127.0.0.1:1";
  EXPECT_EQ(Client(options).ListModels().status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(pauses_.size(), 3);
}

}  // namespace
}  // namespace attend
