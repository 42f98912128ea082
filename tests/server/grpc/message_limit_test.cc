#include "server/grpc/message_limit.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/reflection/methods.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kLimit = 256 << 10;

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
    EXPECT_EQ(connection.ReceiveStatus(), "8") << path;
    EXPECT_TRUE(connection.ReceiveUntil(RawConnection::Frame(
        RawConnection::kResetStream, 0, 1, std::string(4, '\0'))));
    EXPECT_TRUE(connection.Answers());
  }
}

// The name of a model is all that a request for health has.
TEST(MessageLimitTest, HealthHasASmallLimitOfItsOwn) {
  RpcFixture fixture;
  for (const char* method : {"Check", "Watch"}) {
    const std::string path = absl::StrCat("/grpc.health.v1.Health/", method);
    for (const uint32_t bytes : {1025u, 15u << 20, 0xffffffffu}) {
      // The head comes with the headers, or a byte at a time.
      for (const bool at_once : {true, false}) {
        RawConnection connection(fixture.server->port());
        ASSERT_TRUE(connection.Send(BlockInFrames(1, Headers(path), 1000)));
        if (!at_once) {
          ASSERT_TRUE(connection.Answers());
        }
        for (const char byte : MessageHead(bytes)) {
          ASSERT_TRUE(connection.Send(RawConnection::Frame(
              RawConnection::kData, 0, 1, std::string(1, byte))));
        }
        EXPECT_EQ(connection.ReceiveStatus(), "8") << path << " " << bytes;
        EXPECT_TRUE(connection.Answers());
      }
    }
  }
}

std::string Call(const std::string& encoding, const std::string& message,
                 const std::string& path = "/attend.v1.Attend/ListModels") {
  std::string headers = Headers(path);
  if (!encoding.empty()) headers += Header("grpc-encoding", encoding);
  return BlockInFrames(1, headers, 1000) +
         RawConnection::Frame(RawConnection::kData, RawConnection::kEndStream,
                              1, message);
}

// gRPC's "Compression" says which status is right.
TEST(MessageLimitTest, WhatCannotBeUnpackedHasAStatus) {
  RpcFixture fixture;
  for (const char* path :
       {"/attend.v1.Attend/ListModels", "/attend.v1.Attend/GenerateStream",
        "/grpc.health.v1.Health/Check"}) {
    for (const std::string encoding : {"gzip", "deflate", "identity", ""}) {
      RawConnection connection(fixture.server->port());
      ASSERT_TRUE(connection.Send(
          Call(encoding, MessageHead(9, /*flag=*/1) + "not gzip.", path)));
      EXPECT_EQ(connection.ReceiveStatus(), "13") << path << " " << encoding;
      EXPECT_TRUE(connection.Answers());
    }
    RawConnection connection(fixture.server->port());
    ASSERT_TRUE(connection.Send(Call("", MessageHead(0, /*flag=*/2), path)));
    EXPECT_EQ(connection.ReceiveStatus(), "13") << path;
    EXPECT_TRUE(connection.Answers());
  }
}

TEST(MessageLimitTest, AnUnknownEncodingIsUnimplemented) {
  RpcFixtureOptions options;
  options.more_methods = ReflectionMethods();
  RpcFixture fixture(options);
  for (const char* path :
       {"/attend.v1.Attend/ListModels", "/attend.v1.Attend/GenerateStream",
        "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    for (const std::string encoding : {"snappy", "zstd", "x-gzip"}) {
      for (const char flag : {0, 1}) {
        RawConnection connection(fixture.server->port());
        ASSERT_TRUE(
            connection.Send(Call(encoding, MessageHead(1, flag) + "x", path)));
        EXPECT_THAT(connection.ReceiveHeader("grpc-accept-encoding"),
                    HasSubstr("gzip"))
            << path;
        EXPECT_EQ(connection.ReceiveStatus(), "12") << path << " " << encoding;
      }
    }
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

// `text` in gzip's format.
std::string Gzip(const std::string& text) {
  z_stream stream = {};
  constexpr int kGzipHeader = 16;
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED,
                         MAX_WBITS + kGzipHeader, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = packed.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(MessageLimitTest, AMessageThatIsTooLongUnpackedIsNotRead) {
  RpcFixture fixture(Limited());
  const std::string packed = Gzip(std::string(20 * kLimit, 'a'));  // 5 KiB
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      Call("gzip", MessageHead(packed.size(), /*flag=*/1) + packed)));
  EXPECT_EQ(connection.ReceiveStatus(), "8");
  EXPECT_TRUE(connection.ReceiveUntil("262144")) << "the message says why";
}

TEST(MessageLimitTest, ACutMessageHasAStatus) {
  RpcFixture fixture;
  const std::string packed = Gzip(std::string(1000, 'a')).substr(0, 20);
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(
      Call("gzip", MessageHead(packed.size(), /*flag=*/1) + packed)));
  EXPECT_EQ(connection.ReceiveStatus(), "13");
}

}  // namespace
}  // namespace attend
