#include "server/grpc/header_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/grpc/sockets.h"

namespace attend {
namespace {

TEST(HeaderFramesTest, ABlockHasFewFrames) {
  HeaderFrames frames;
  const int one = 0, other = 0;
  for (int i = 0; i < kMaxBlockFrames; ++i) {
    EXPECT_EQ(frames.OnFrame(&one, /*ends_block=*/false, /*acknowledged=*/true),
              i == 0 ? kMaxHeaderBytes : kMaxContinuedBytes);
    EXPECT_EQ(
        frames.OnFrame(&other, /*ends_block=*/true, /*acknowledged=*/true),
        kMaxHeaderBytes);
  }
  EXPECT_FALSE(frames.IsOverLimit(&one));
  frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/true);
  EXPECT_TRUE(frames.IsOverLimit(&one));
  EXPECT_FALSE(frames.IsOverLimit(&other));
  frames.Forget(&one);
  EXPECT_FALSE(frames.IsOverLimit(&one));
}

TEST(HeaderFramesTest, FewFramesComeBeforeTheSettingsAreAcknowledged) {
  HeaderFrames frames;
  const int one = 0;
  for (int i = 0; i < kMaxUnacknowledgedFrames; ++i) {
    frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/false);
  }
  EXPECT_FALSE(frames.IsOverLimit(&one));
  frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/false);
  EXPECT_TRUE(frames.IsOverLimit(&one));
}

// A connection that speaks HTTP/2, in whatever way the test wants.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(Connect(port)) {
    EXPECT_TRUE(Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0)));
  }
  enum Kind : char {
    kHeaders = 1,
    kSettings = 4,
    kPing = 6,
    kContinuation = 9
  };
  static constexpr char kAck = 1, kEndHeaders = 4;

  static std::string Frame(Kind kind, char flags, int stream = 0,
                           const std::string& payload = "") {
    const int size = static_cast<int>(payload.size());
    std::string frame = {static_cast<char>(size >> 16),
                         static_cast<char>(size >> 8),
                         static_cast<char>(size),
                         kind,
                         flags,
                         0,
                         0,
                         static_cast<char>(stream >> 8),
                         static_cast<char>(stream)};
    return frame + payload;
  }
  bool Send(const std::string& bytes) { return SendAll(socket_, bytes); }
  // Whether the server answers pings, after all that it was sent.
  bool Answers() {
    const std::string ping(8, 'p');
    if (!Send(Frame(kPing, 0, 0, ping))) return false;
    const std::string answer = Frame(kPing, kAck, 0, ping);
    std::string received;
    char buffer[4096];
    while (received.find(answer) == received.npos) {
      const ssize_t count = recv(socket_.get(), buffer, sizeof(buffer), 0);
      if (count <= 0) return false;
      received.append(buffer, count);
    }
    return true;
  }

 private:
  const Descriptor socket_;
};

std::string Header(const std::string& name, const std::string& value) {
  return absl::StrCat(std::string(1, '\0'), std::string(1, name.size()), name,
                      std::string(1, value.size()), value);
}

// Of a call of no method.
std::string Headers() {
  return Header(":method", "POST") + Header(":scheme", "http") +
         Header(":path", "/a/b") + Header(":authority", "a") +
         Header("te", "trailers") + Header("content-type", "application/grpc");
}

TEST(HeaderLimitTest, AnEndlessHeaderBlockEndsItsConnection) {
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      RawConnection::Frame(RawConnection::kHeaders, 0, 1, Headers())));
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
      RawConnection::Frame(RawConnection::kHeaders, 0, 1, Headers())));
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
                                     Headers());
    }
    connection.Send(frames);
    EXPECT_EQ(connection.Answers(), acknowledges);
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
