#include "server/grpc/rpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/support/sync_stream.h>

#include <map>
#include <memory>

#include "server/grpc/listener.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"

// How a server starts and ends.

namespace attend {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(RpcServerTest, ADrainFinishesCallsThatHaveBegunAndRefusesNewOnes) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 0;
  options.scheduler.max_running = 1;
  options.scheduler.max_queued_requests = 2;
  RpcFixture fixture(options);
  grpc::ClientContext running;
  auto reader = fixture.stub->GenerateStream(&running, MakeRequest({"a"}, 3));
  fixture.engine.WaitUntilBlocked();
  // Two inputs fill the queue; the third is refused, which tells us so.
  grpc::ClientContext queued;
  auto waiting =
      fixture.stub->GenerateStream(&queued, MakeRequest({"a", "b", "c"}, 2));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(waiting->Read(&chunk));
  ASSERT_EQ(chunk.input(), 2);

  fixture.calls->Drain();
  EXPECT_FALSE(fixture.calls->WaitUntilIdle(absl::ZeroDuration()));
  grpc::ClientContext late;
  v1::GenerateResponse response;
  EXPECT_EQ(fixture.stub->Generate(&late, MakeRequest({"b"}, 1), &response)
                .error_code(),
            grpc::UNAVAILABLE);
  fixture.engine.OpenGate();
  int tokens = 0;
  while (reader->Read(&chunk)) tokens += chunk.ids_size();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(tokens, 3);
  std::map<int, int> codes;
  while (waiting->Read(&chunk)) codes[chunk.input()] = chunk.status().code();
  EXPECT_TRUE(waiting->Finish().ok());
  EXPECT_EQ(codes, (std::map<int, int>{{0, grpc::OK}, {1, grpc::OK}}));
  EXPECT_TRUE(fixture.calls->WaitUntilIdle(absl::Seconds(60)));
  fixture.server->Shutdown(absl::Seconds(60));
}

TEST(RpcServerTest, WhatTakesTooLongIsCutWithUnavailable) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 3;
  RpcFixture fixture(options);
  grpc::ClientContext context;
  auto reader =
      fixture.stub->GenerateStream(&context, MakeRequest({"abc"}, 1000));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  fixture.engine.WaitUntilBlocked();
  fixture.calls->Cut();
  fixture.engine.OpenGate();
  while (reader->Read(&chunk)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("drain timeout"));
}

TEST(RpcServerTest, AHealthWatcherDoesNotHoldTheServer) {
  RpcFixture fixture;
  const auto channel = fixture.NewChannel({});
  grpc::ClientContext context;
  // HealthCheckRequest of the server as a whole: no bytes.
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> watcher(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
          channel.get(),
          grpc::internal::RpcMethod(
              "/grpc.health.v1.Health/Watch",
              grpc::internal::RpcMethod::SERVER_STREAMING),
          &context, v1::ListModelsRequest()));
  grpc::ByteBuffer answer;
  ASSERT_TRUE(watcher->Read(&answer));
  fixture.server->Shutdown(absl::Hours(1));  // returns
  while (watcher->Read(&answer)) {
  }
  EXPECT_FALSE(watcher->Finish().ok());
}

TEST(RpcServerTest, ShutdownCancelsWhatIsLeft) {
  RpcFixture fixture;
  grpc::ClientContext context;
  auto reader =
      fixture.stub->GenerateStream(&context, MakeRequest({"abc"}, 4000));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  fixture.server->Shutdown(absl::ZeroDuration());
  while (reader->Read(&chunk)) {
  }
  EXPECT_THAT(reader->Finish().error_code(),
              AnyOf(grpc::CANCELLED, grpc::UNAVAILABLE, grpc::OK));
  fixture.WaitUntilFree();
}

TEST(RpcServerTest, WhoConnectsWhileItDrainsWaitsForTheNextServer) {
  const auto listener = Listen("127.0.0.1", 0, absl::Minutes(1));
  ASSERT_TRUE(listener.ok()) << listener.status();
  RpcFixtureOptions options;
  const auto inherit = [&] {
    options.rpc.inherited_sockets = {dup(listener->sockets[0].get())};
    return std::make_unique<RpcFixture>(options);
  };
  auto draining = inherit();
  RawConnection early(listener->port);
  ASSERT_TRUE(early.Answers());
  draining->server->LeaveInheritedSockets();
  RawConnection late(listener->port);
  EXPECT_TRUE(early.Answers());
  EXPECT_TRUE(draining->server->alive());
  draining.reset();
  EXPECT_FALSE(early.Answers());
  const auto next = inherit();
  EXPECT_TRUE(late.Answers());
}

TEST(RpcServerTest, ItsOwnSocketsStayOpenUntilTheEnd) {
  RpcFixture fixture;
  fixture.server->LeaveInheritedSockets();
  EXPECT_TRUE(RawConnection(fixture.server->port()).Answers());
}

TEST(RpcServerTest, APortInUseIsAnError) {
  RpcFixture fixture;
  StepSignal signal;
  const auto second =
      RpcServer::Start({.host = "127.0.0.1", .port = fixture.server->port()},
                       *fixture.calls, signal, fixture.metrics.connections());
  EXPECT_EQ(second.status(),
            absl::UnavailableError(absl::StrCat(
                "cannot listen on 127.0.0.1:", fixture.server->port(),
                ": address already in use")));
}

}  // namespace
}  // namespace attend
