// Memory of requests that arrive over gRPC.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/grpc/request_stream.h"
#include "server/inference/methods.h"
#include "server/tenants/tenants.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/inference/tensors.h"
#include "tests/support/resident_bytes.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

// All requests together have at most 40,000 bytes, those of a tenant 30,000.
RpcFixtureOptions SmallBudget() {
  RpcFixtureOptions options;
  options.max_request_bytes = 40000;
  return options;
}

std::string Call(int stream, const std::string& key = "") {
  std::string headers = Headers("/attend.v1.Attend/Generate");
  if (!key.empty()) headers += Header("authorization", "Bearer " + key);
  return BlockInFrames(stream, headers, 1000);
}

// Half of a message.
std::string HalfMessage(int stream, size_t bytes) {
  return RawConnection::Frame(
      RawConnection::kData, 0, stream,
      MessageHead(2 * bytes) + std::string(bytes - 5, 'm'));
}

std::string Reset(int stream) {
  return RawConnection::Frame(RawConnection::kResetStream, 0, stream,
                              std::string(4, '\0'));
}

TEST(RequestMemoryTest, SlowMessagesMakeRoomForOthers) {
  RpcFixture fixture(SmallBudget());
  {
    RawConnection connection(fixture.server->port());
    for (int stream = 1; stream <= 11; stream += 2) {
      ASSERT_TRUE(connection.Send(Call(stream)));
      ASSERT_TRUE(connection.Answers());
      ASSERT_TRUE(connection.Send(HalfMessage(stream, 9000)));
      ASSERT_TRUE(connection.Answers());
      EXPECT_LE(fixture.calls->requests.bytes(), 30000u);
      // Three have room.
      if (stream <= 5) continue;
      ASSERT_TRUE(connection.ReceiveUntil(Reset(stream - 6)));
    }
    EXPECT_EQ(connection.ReceiveStatus(), "8");
    EXPECT_GE(fixture.calls->requests.bytes(), 27000u);
    // Others are served.
    grpc::ClientContext context;
    v1::GenerateResponse response;
    EXPECT_TRUE(
        fixture.stub->Generate(&context, MakeRequest({"abc"}, 1), &response)
            .ok());
  }
  // All goes back, without a later call.
  EXPECT_TRUE(WaitUntil([&] { return fixture.calls->requests.bytes() == 0; }));
  EXPECT_TRUE(WaitUntil([&] {
    return fixture.metrics.Serialize().find(
               "attend_requests_total{code=\"RESOURCE_EXHAUSTED\",method="
               "\"Generate\",model=\"\"} 3") != std::string::npos;
  }));
}

// gRPC reads many frames at once, and would keep them all for one byte.
TEST(RequestMemoryTest, AByteOfAMessageDoesNotKeepWhatCameWithIt) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(
      connection.Send(Call(1) + RawConnection::Frame(RawConnection::kData, 0, 1,
                                                     MessageHead(1 << 20))));
  ASSERT_TRUE(connection.Answers());
  const int64_t before = ResidentBytes();
  const std::string ignored = RawConnection::Frame(RawConnection::kUnknown, 0,
                                                   0, std::string(16384, 'x'));
  const std::string byte =
      RawConnection::Frame(RawConnection::kData, 0, 1, "m");
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(connection.Send(ignored + byte));
  ASSERT_TRUE(connection.Answers());
  EXPECT_LT(ResidentBytes(), before + (16 << 20));  // of 64 MiB
}

TEST(RequestMemoryTest, OneTenantLeavesRoomToTheOthers) {
  Metrics metrics("test", {});
  Tenants tenants(metrics);
  TenantSettings one, other;
  one.name = "one";
  one.keys = {HashKey("one")};
  other.name = "other";
  other.keys = {HashKey("other")};
  tenants.Set({one, other}, absl::Now());
  RpcFixtureOptions options = SmallBudget();
  options.tenants = &tenants;
  RpcFixture fixture(options);
  RawConnection connection(fixture.server->port());
  for (int stream = 1; stream <= 5; stream += 2) {
    ASSERT_TRUE(connection.Send(Call(stream, "one")));
    ASSERT_TRUE(connection.Answers());
    ASSERT_TRUE(connection.Send(HalfMessage(stream, 9000)));
  }
  ASSERT_TRUE(connection.Answers());
  ASSERT_TRUE(connection.Send(Call(7, "other")));
  ASSERT_TRUE(connection.Answers());
  ASSERT_TRUE(connection.Send(HalfMessage(7, 9000)));
  ASSERT_TRUE(connection.Answers());
  EXPECT_GE(fixture.calls->requests.bytes(), 36000u);
  EXPECT_EQ(connection.received().find("grpc-status"), std::string::npos);
}

// A client that sends faster than requests are computed has to wait.
TEST(RequestMemoryTest, AStreamHasFewBytesInWork) {
  RpcFixtureOptions options;
  options.more_methods = InferenceMethods();
  options.engine.allowed_steps = 0;
  RpcFixture fixture(options);
  const auto stub =
      inference::GRPCInferenceService::NewStub(fixture.NewChannel({}));
  grpc::ClientContext context;
  const auto stream = stub->ModelStreamInfer(&context);
  constexpr int kRequests = 40;
  constexpr int kInWork = RequestStream::kMaxStreamBytes >> 20;
  std::thread sender([&] {
    for (int i = 0; i < kRequests; ++i) {
      inference::ModelInferRequest request = OfTexts({"abc"});
      request.set_id(std::string(1 << 20, 'a' + i % 26));
      (*request.mutable_parameters())["max_new_tokens"].set_int64_param(1);
      EXPECT_TRUE(stream->Write(request));
    }
    stream->WritesDone();
  });
  EXPECT_TRUE(
      WaitUntil([&] { return fixture.engine.live_sequences() >= kInWork; }));
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext other;
    v1::ListModelsResponse response;
    EXPECT_TRUE(
        fixture.stub->ListModels(&other, v1::ListModelsRequest(), &response)
            .ok());
  }
  EXPECT_EQ(fixture.engine.live_sequences(), kInWork);
  fixture.engine.OpenGate();
  inference::ModelStreamInferResponse answer;
  int answers = 0;
  while (stream->Read(&answer)) ++answers;
  sender.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_GE(answers, kRequests);
}

}  // namespace
}  // namespace attend
