#include "server/grpc/header_limit.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>

#include "server/grpc/accepted_calls.h"
#include "server/grpc/header_frames.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"

namespace attend {
namespace {

TEST(HeaderLimitTest, IsThereWithBothGrpcThatAttendIsBuiltWith) {
  EXPECT_TRUE(LimitsHeaderBlocks()) << "gRPC " << grpc::Version();
}

TEST(HeaderLimitTest, AnEndlessHeaderBlockEndsItsConnection) {
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      RawConnection::Frame(RawConnection::kHeaders, 0, 1, Headers("/a/b"))));
  std::string block;
  while (block.size() < 800) block += Header("a", std::string(100, 'b'));
  const std::string frame =
      RawConnection::Frame(RawConnection::kContinuation, 0, 1, block);
  int sent = 0;
  while (sent < 16 << 20 && connection.Send(frame)) sent += frame.size();
  EXPECT_LT(sent, 16 << 20);
  EXPECT_FALSE(connection.Answers());
  EXPECT_TRUE(RawConnection(fixture.server->port()).Answers());
}

TEST(HeaderLimitTest, ABlockMayHaveASecondFrame) {
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      RawConnection::Frame(RawConnection::kHeaders, 0, 1, Headers("/a/b"))));
  ASSERT_TRUE(connection.Send(RawConnection::Frame(RawConnection::kContinuation,
                                                   RawConnection::kEndHeaders,
                                                   1, Header("a", "b"))));
  EXPECT_TRUE(connection.Answers());
}

TEST(HeaderLimitTest, OnlyWhoAcknowledgesTheSettingsMayCallOften) {
  RpcFixture fixture;
  for (const bool acknowledges : {false, true}) {
    RawConnection connection(fixture.server->port());
    EXPECT_TRUE(connection.Answers());  // so its settings have come
    if (acknowledges) {
      ASSERT_TRUE(connection.Send(
          RawConnection::Frame(RawConnection::kSettings, RawConnection::kAck)));
    }
    std::string frames;
    for (int i = 0; i <= kMaxUnacknowledgedFrames; ++i) {
      frames += RawConnection::Frame(RawConnection::kHeaders,
                                     RawConnection::kEndHeaders, 2 * i + 1,
                                     Headers("/a/b"));
    }
    connection.Send(frames);
    EXPECT_EQ(connection.Answers(), acknowledges);
  }
}

// As if fewer could be reset: gRPC may take down the first ones before so many
// have come.
TEST(HeaderLimitTest, ACallCountsUntilItHasGone) {
  RpcFixture fixture;
  AcceptedCalls::OfProcess().set_max_open(100 - kMaxResetCalls);
  for (const int calls : {100, 101}) {
    RawConnection connection(fixture.server->port());
    std::string frames;
    for (int i = 0; i < calls; ++i) {
      frames += RawConnection::Frame(RawConnection::kHeaders,
                                     RawConnection::kEndHeaders, 2 * i + 1,
                                     Headers("/attend.v1.Attend/Generate"));
    }
    connection.Send(
        RawConnection::Frame(RawConnection::kSettings, RawConnection::kAck));
    connection.Send(frames);
    EXPECT_EQ(connection.Answers(), calls == 100);
  }
  v1::ListModelsResponse response;
  for (int i = 0; i < 300; ++i) {
    grpc::ClientContext context;
    EXPECT_TRUE(
        fixture.stub->ListModels(&context, v1::ListModelsRequest(), &response)
            .ok());
  }
}

TEST(HeaderLimitTest, MetadataWithinTheLimitReachesTheServer) {
  RpcFixture fixture;
  grpc::ClientContext context;
  context.AddMetadata("a", std::string(6000, 'b'));
  v1::ListModelsResponse response;
  EXPECT_TRUE(
      fixture.stub->ListModels(&context, v1::ListModelsRequest(), &response)
          .ok());
}

}  // namespace
}  // namespace attend
