#include "server/grpc/message_limit.h"

#include <gmock/gmock.h>
#include <grpcpp/version_info.h>

#include <string>

#include "absl/strings/match.h"
#include "server/reflection/methods.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kLimit = 256 << 10;
constexpr bool kIs151 = GRPC_CPP_VERSION_MINOR == 51;

RpcFixtureOptions Limited() {
  RpcFixtureOptions options;
  options.rpc.max_message_bytes = kLimit;
  return options;
}

// A server that reads them before it looks has memory for all of each.
TEST(MessageLimitTest, AMessageThatIsTooLongEndsAtItsHead) {
  RpcFixtureOptions options = Limited();
  options.more_methods = ReflectionMethods();
  RpcFixture fixture(options);
  for (const char* path :
       {"/attend.v1.Attend/Generate", "/attend.v1.Attend/GenerateStream",
        "/grpc.health.v1.Health/Check",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    RawConnection connection(fixture.server->port());
    ASSERT_TRUE(connection.Send(
        RawConnection::Frame(RawConnection::kHeaders,
                             RawConnection::kEndHeaders, 1, Headers(path)) +
        RawConnection::Frame(RawConnection::kData, 0, 1,
                             MessageHead(1u << 31) + std::string(100, 'm'))));
    // The other version ends the call at the next part of the message.
    const std::string reset = RawConnection::Frame(RawConnection::kResetStream,
                                                   0, 1, std::string(4, '\0'));
    const std::string more =
        RawConnection::Frame(RawConnection::kData, 0, 1, "m");
    EXPECT_TRUE(WaitUntil([&] {
      return (kIs151 || connection.Send(more)) && connection.Answers() &&
             absl::StrContains(connection.received(), reset);
    })) << path;
  }
}

TEST(MessageLimitTest, AClientIsToldWhy) {
  RpcFixture fixture(Limited());
  for (const int bytes : {kLimit + 10, 4 * kLimit}) {
    grpc::ClientContext context;
    v1::GenerateResponse response;
    const grpc::Status status = fixture.stub->Generate(
        &context, MakeRequest({std::string(bytes, 'a')}, 1), &response);
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << bytes;
    EXPECT_THAT(status.error_message(), HasSubstr("262144")) << bytes;
  }
}

TEST(MessageLimitTest, AMessageMayBeAsLongAsTheLimit) {
  RpcFixture fixture(Limited());
  for (const bool packed : {false, true}) {
    grpc::ClientContext context;
    if (packed) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    v1::TokenizeRequest request;
    request.set_model(std::string(kLimit - 10, 'a'));
    v1::TokenizeResponse response;
    EXPECT_EQ(fixture.stub->Tokenize(&context, request, &response).error_code(),
              grpc::NOT_FOUND);
  }
}

TEST(MessageLimitTest, AMessageThatIsTooLongUnpackedIsNotRead) {
  // The client of the other version sends it as it is.
  if (!kIs151) GTEST_SKIP() << "sent without packing";
  RpcFixture fixture(Limited());
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::TokenizeRequest request;
  request.set_model(std::string(20 * kLimit, 'a'));  // some 5 KiB
  v1::TokenizeResponse response;
  EXPECT_EQ(fixture.stub->Tokenize(&context, request, &response).error_code(),
            grpc::INTERNAL);
}

}  // namespace
}  // namespace attend
