#include "server/grpc/header_limit.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

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

constexpr char kListModels[] = "/attend.v1.Attend/ListModels";

std::string Message(int stream, const std::string& bytes) {
  return RawConnection::Frame(RawConnection::kData, RawConnection::kEndStream,
                              stream, bytes);
}

TEST(HeaderLimitTest, ABlockMayHaveAnyNumberOfFrames) {
  RpcFixture fixture;
  const std::string block =
      Headers(kListModels) + Header("a", std::string(5000, 'b'));
  for (const size_t bytes : {block.size(), block.size() / 2, size_t{1}}) {
    RawConnection connection(fixture.server->port());
    ASSERT_TRUE(connection.Send(BlockInFrames(1, block, bytes) +
                                Message(1, MessageHead(0))));
    EXPECT_EQ(connection.ReceiveStatus(), "0") << bytes;
  }
}

// Headers after the messages.
TEST(HeaderLimitTest, TrailersMayBeWrongToo) {
  RpcFixture fixture;
  for (const auto& [trailer, status] :
       {std::pair(Header("a", "b"), "0"),
        std::pair(Header("a", std::string(9000, 'b')), "8"),
        std::pair(Header("a-bin", "%"), "3")}) {
    RawConnection connection(fixture.server->port());
    ASSERT_TRUE(connection.Send(BlockInFrames(1, Headers(kListModels), 1000)));
    ASSERT_TRUE(connection.Answers());
    ASSERT_TRUE(connection.Send(RawConnection::Frame(
        RawConnection::kHeaders,
        RawConnection::kEndHeaders | RawConnection::kEndStream, 1, trailer)));
    // Without a message: INVALID_ARGUMENT.
    EXPECT_EQ(connection.ReceiveStatus(),
              status == std::string("0") ? "3" : status);
    EXPECT_TRUE(connection.Answers());
  }
}

TEST(HeaderLimitTest, HeadersOfAStreamThatHasGoneAreSkipped) {
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      BlockInFrames(3, Headers("/a/b"), 1000) +
      // Of a stream before it, which cannot begin any more, and a field of it
      // that two frames share.
      BlockInFrames(1, Header("key", std::string(3000, 'v'), '\x40'), 1000) +
      BlockInFrames(5, Headers(kListModels) + "\xbe", 1000) +
      Message(5, MessageHead(0))));
  EXPECT_TRUE(connection.ReceiveUntil(std::string(
      {'\x01', RawConnection::kEndStream | RawConnection::kEndHeaders, 0, 0, 0,
       5})));
  EXPECT_TRUE(connection.Answers());
}

TEST(HeaderLimitTest, BinaryMetadataReachesTheServer) {
  RpcFixture fixture;
  grpc::ClientContext context;
  context.AddMetadata("a-bin", std::string("\0\xff\n", 3));
  v1::ListModelsResponse response;
  EXPECT_TRUE(
      fixture.stub->ListModels(&context, v1::ListModelsRequest(), &response)
          .ok());
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
    for (int i = 0; i <= kMaxUnacknowledgedBlocks; ++i) {
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
