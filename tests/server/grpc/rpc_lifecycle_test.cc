// How calls end: cancel, deadline, overload, slow readers.

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "attend/v1/status_details.pb.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(RpcLifecycleTest, ACancelledCallIsFreed) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 3;  // encode, two tokens
  RpcFixture fixture(options);
  grpc::ClientContext context;
  auto reader =
      fixture.stub->GenerateStream(&context, MakeRequest({"abc"}, 1000));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  fixture.engine.WaitUntilBlocked();
  context.TryCancel();
  while (reader->Read(&chunk)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
  // A call behind it on the same connection: then the server has heard of it.
  while (fixture.engine.live_sequences() > 0) {
    grpc::ClientContext later;
    v1::ListModelsResponse response;
    ASSERT_TRUE(fixture.stub->ListModels(&later, {}, &response).ok());
    fixture.engine.AllowSteps(1);
  }
  EXPECT_LT(fixture.engine.steps(), 100);
}

TEST(RpcLifecycleTest, ADeadlineEndsWhatRunsAndWhatWaits) {
  ManualClock clock;
  RpcFixtureOptions options;
  options.engine.allowed_steps = 0;
  options.scheduler.max_running = 1;
  options.clock = &clock;
  RpcFixture fixture(options);
  // So late that gRPC itself does not see it pass: the server's clock decides.
  const auto deadline =
      std::chrono::system_clock::now() + std::chrono::hours(1);
  grpc::ClientContext running, waiting;
  running.set_deadline(deadline);
  waiting.set_deadline(deadline);
  auto reader =
      fixture.stub->GenerateStream(&running, MakeRequest({"abc"}, 1000));
  fixture.engine.WaitUntilBlocked();
  auto second = std::async(std::launch::async, [&] {
    v1::GenerateResponse response;
    return fixture.stub->Generate(&waiting, MakeRequest({"d"}, 2), &response);
  });
  while (fixture.engine.live_sequences() < 2) std::this_thread::yield();
  // The server counts from when the call arrived, by a clock of its own, which
  // here is decades behind the one that the client's deadline is of.
  clock.Advance(absl::FromChrono(deadline) - absl::Now() + absl::Minutes(1));
  fixture.engine.OpenGate();
  EXPECT_EQ(second.get().error_code(), grpc::DEADLINE_EXCEEDED);
  v1::GenerateChunk chunk;
  while (reader->Read(&chunk)) EXPECT_EQ(chunk.ids_size(), 0);
  EXPECT_EQ(reader->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  fixture.WaitUntilFree();
  EXPECT_EQ(fixture.engine.steps(), 1);
}

TEST(RpcLifecycleTest, AFailedStepIsAnErrorOfTheCall) {
  RpcFixture fixture;
  fixture.engine.FailNextStep(absl::InternalError("broken"));
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, MakeRequest({"abc"}, 2), &response);
  EXPECT_EQ(status.error_code(), grpc::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("broken"));
}

TEST(RpcLifecycleTest, AFullQueueSaysWhenToTryAgain) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 0;
  options.scheduler.max_running = 1;
  options.scheduler.max_queued_requests = 1;
  RpcFixture fixture(options);
  grpc::ClientContext running, partly, refused;
  auto first = fixture.stub->GenerateStream(&running, MakeRequest({"a"}, 2));
  fixture.engine.WaitUntilBlocked();
  // One of three fits.
  auto second =
      fixture.stub->GenerateStream(&partly, MakeRequest({"a", "b", "c"}, 2));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(second->Read(&chunk));
  EXPECT_EQ(chunk.status().code(), grpc::RESOURCE_EXHAUSTED);

  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&refused, MakeRequest({"d", "e"}, 2), &response);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  v1::StatusDetails details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), grpc::RESOURCE_EXHAUSTED);
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(),
            "type.googleapis.com/google.rpc.RetryInfo");
  v1::RetryInfo info;
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_GT(info.retry_delay().seconds() + info.retry_delay().nanos(), 0);
  const auto& trailers = refused.GetServerTrailingMetadata();
  EXPECT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);
  EXPECT_EQ(trailers.count("x-request-id"), 1u);
  // Headers would tell gRPC that the call has begun.
  EXPECT_TRUE(refused.GetServerInitialMetadata().empty());

  fixture.engine.OpenGate();
  std::map<int, int> codes;
  do {
    if (chunk.has_status()) codes[chunk.input()] = chunk.status().code();
  } while (second->Read(&chunk));
  EXPECT_TRUE(second->Finish().ok());
  EXPECT_EQ(codes, (std::map<int, int>{{0, 0},
                                       {1, grpc::RESOURCE_EXHAUSTED},
                                       {2, grpc::RESOURCE_EXHAUSTED}}));
}

// The client's gRPC makes the call again after the pause that the server names.
TEST(RpcLifecycleTest, GrpcRetriesACallThatFoundAFullQueue) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 0;
  options.scheduler.max_running = 1;
  options.scheduler.max_queued_requests = 1;
  RpcFixture fixture(options);
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(R"({"methodConfig": [{"name": [{}],
      "retryPolicy": {"maxAttempts": 2, "initialBackoff": "100s",
      "maxBackoff": "100s", "backoffMultiplier": 1,
      "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]})");
  const auto stub = v1::Attend::NewStub(grpc::CreateCustomChannel(
      absl::StrCat("ipv4:127.0.0.1:", fixture.server->port()),
      grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext running, waiting, retried;
  auto first = fixture.stub->GenerateStream(&running, MakeRequest({"a"}, 2));
  fixture.engine.WaitUntilBlocked();
  // One of two fits.
  auto second =
      fixture.stub->GenerateStream(&waiting, MakeRequest({"b", "c"}, 2));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(second->Read(&chunk));
  auto third = std::async(std::launch::async, [&] {
    v1::GenerateResponse response;
    return stub->Generate(&retried, MakeRequest({"d"}, 2), &response);
  });
  while (fixture.metrics.Serialize().find(
             "attend_requests_total{code=\"RESOURCE_EXHAUSTED\"") ==
         std::string::npos) {
    std::this_thread::yield();
  }
  fixture.engine.OpenGate();
  EXPECT_TRUE(third.get().ok());
}

TEST(RpcLifecycleTest, GrpcDoesNotRetryWithoutAHint) {
  RpcFixture fixture;
  fixture.engine.FailNextStep(absl::ResourceExhaustedError("no memory"));
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, MakeRequest({"abc"}, 2), &response);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(pushback->second, "-1");
}

TEST(RpcLifecycleTest, ASlowReaderIsCancelledAndSlowsNobody) {
  RpcFixtureOptions options;
  options.rpc.slow_reader_timeout = absl::Milliseconds(100);
  RpcFixture fixture(options);
  // A window that is soon full, and answers that fill it.
  grpc::ChannelArguments small;
  small.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  small.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  const auto slow_stub = fixture.NewStub(small);
  std::vector<std::string> texts(200, std::string(300, 'a'));
  v1::GenerateRequest request = MakeRequest(texts, 100);
  request.mutable_params()->set_log_probs(true);
  grpc::ClientContext slow;
  auto reader = slow_stub->GenerateStream(&slow, request);
  v1::GenerateChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  // It reads no more: others are served all the same.
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(ReadStream(*fixture.stub, MakeRequest({"abc"}, 5)).status.ok());
  }
  while (fixture.metrics.Serialize().find(
             "attend_slow_readers_total{model=\"fake\"} 1") ==
         std::string::npos) {
    std::this_thread::yield();
  }
  while (reader->Read(&chunk)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
  fixture.WaitUntilFree();
}

TEST(RpcLifecycleTest, ADeadReaderIsFreed) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 2;
  RpcFixture fixture(options);
  {
    auto channel = fixture.NewChannel({});
    const auto stub = v1::Attend::NewStub(channel);
    grpc::ClientContext context;
    auto reader = stub->GenerateStream(&context, MakeRequest({"abc"}, 1000));
    v1::GenerateChunk chunk;
    ASSERT_TRUE(reader->Read(&chunk));
    fixture.engine.WaitUntilBlocked();
  }  // the reader, and with it its call, goes without a goodbye
  fixture.engine.OpenGate();
  fixture.WaitUntilFree();
}

TEST(RpcLifecycleTest, ANewcomerIsServedWithinTwoStepsAndEndsFirst) {
  int steps_together = 0;
  int first_token_after = 0;  // steps with the newcomer, its first token's too
  RpcFixtureOptions options;
  options.engine.allowed_steps = 20;
  options.engine.on_step = [&](const StepPlan& plan) {
    if (plan.pieces.size() < 2) return;
    int fewest = 1000;
    for (const Piece& piece : plan.pieces) {
      const auto& tokens = piece.sequence->output().choices[0].tokens;
      fewest = std::min(fewest, static_cast<int>(tokens.size()));
    }
    if (fewest > 0 && first_token_after == 0) {
      first_token_after = steps_together;
    }
    ++steps_together;
  };
  RpcFixture fixture(options);
  grpc::ClientContext context;
  auto reader =
      fixture.stub->GenerateStream(&context, MakeRequest({"long"}, 400));
  fixture.engine.WaitUntilBlocked();
  auto newcomer = std::async(std::launch::async, [&] {
    return ReadStream(*fixture.stub, MakeRequest({"short"}, 5));
  });
  while (fixture.engine.live_sequences() < 2) std::this_thread::yield();
  while (fixture.engine.live_sequences() == 2) {
    fixture.engine.AllowSteps(1);
    fixture.engine.WaitUntilBlocked();
  }
  // The long one stands at the gate.
  EXPECT_TRUE(newcomer.get().status.ok());
  EXPECT_EQ(fixture.engine.live_sequences(), 1);
  EXPECT_GE(first_token_after, 1);
  EXPECT_LE(first_token_after, 2);
  fixture.engine.OpenGate();
  int tokens = 0;
  v1::GenerateChunk chunk;
  while (reader->Read(&chunk)) tokens += chunk.ids_size();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(tokens, 400);
}

TEST(RpcLifecycleTest, SixtyFourMixedClients) {
  RpcFixtureOptions options;
  options.rpc.slow_reader_timeout = absl::Seconds(60);
  RpcFixture fixture(options);
  constexpr int kCalls = kSanitized ? 1 : 3;
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 64; ++c) {
    clients.emplace_back([&fixture, &wrong, c] {
      const auto stub = c % 8 == 0 ? fixture.NewStub({}) : nullptr;
      v1::Attend::Stub& own = stub ? *stub : *fixture.stub;
      for (int i = 0; i < kCalls; ++i) {
        const v1::GenerateRequest request =
            MakeRequest({std::string(1 + c, 'a'), "b"}, 1 + (c + i) % 40);
        grpc::ClientContext context;
        switch ((c + i) % 4) {
          case 0: {
            v1::GenerateResponse response;
            wrong += !own.Generate(&context, request, &response).ok();
            break;
          }
          case 1:
            wrong += !ReadStream(own, request).status.ok();
            break;
          case 2: {
            auto reader = own.GenerateStream(&context, request);
            v1::GenerateChunk chunk;
            reader->Read(&chunk);
            context.TryCancel();
            while (reader->Read(&chunk)) {
            }
            const auto code = reader->Finish().error_code();
            wrong += code != grpc::CANCELLED && code != grpc::OK;
            break;
          }
          case 3: {
            v1::TokenizeRequest tokenize;
            tokenize.add_texts("abc");
            v1::TokenizeResponse response;
            wrong += !own.Tokenize(&context, tokenize, &response).ok();
            break;
          }
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  fixture.WaitUntilFree();
}

}  // namespace
}  // namespace attend
