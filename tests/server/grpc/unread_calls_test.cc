// Calls whose requests have not come: what the headers decide, and how they
// end.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "server/grpc/raw_service.h"
#include "server/tenants/tenants.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/grpc/slow_call.h"
#include "tests/support/resident_bytes.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kGenerate[] = "/attend.v1.Attend/Generate";

// A server with a tenant of the key "key", which may call twice in a year.
class UnreadCallsTest : public ::testing::Test {
 protected:
  UnreadCallsTest() {
    TenantSettings tenant;
    tenant.name = "a";
    tenant.keys = {HashKey("key")};
    tenant.calls = RateLimit{.per_second = 1e-7, .burst = 2};
    tenants_.Set({tenant}, absl::Now());
    RpcFixtureOptions options;
    options.tenants = &tenants_;
    fixture_.emplace(options);
  }

  Metrics metrics_{"test", {}};
  Tenants tenants_{metrics_};
  std::optional<RpcFixture> fixture_;
};

TEST_F(UnreadCallsTest, AKeyThatIsNobodysNeedsNoRequest) {
  for (const char* wrong : {"", "Bearer other"}) {
    EXPECT_EQ(SlowCall(*fixture_, wrong).Finish().error_code(),
              grpc::UNAUTHENTICATED);
  }
}

TEST_F(UnreadCallsTest, ARateThatIsUsedUpNeedsNoRequest) {
  for (int i = 0; i < 2; ++i) {
    SlowCall call(*fixture_, "Bearer key");
    ASSERT_TRUE(call.Send(MakeRequest({"abc"}, 1)));
    EXPECT_TRUE(call.Receive().has_value());
    EXPECT_TRUE(call.Finish().ok());
  }
  const grpc::Status refused = SlowCall(*fixture_, "Bearer key").Finish();
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_details(), HasSubstr("google.rpc.RetryInfo"));
}

// Each of the streams has begun a message of 4 MiB. A server that waits for
// their ends has memory for all of them.
TEST_F(UnreadCallsTest, StreamsWithoutAKeyEndBeforeTheirMessagesDo) {
  constexpr int kStreams = 50;
  RawConnection connection(fixture_->server->port());
  for (int i = 0; i < kStreams; ++i) {
    ASSERT_TRUE(connection.Send(
        RawConnection::Frame(RawConnection::kHeaders,
                             RawConnection::kEndHeaders, 2 * i + 1,
                             Headers(kGenerate)) +
        RawConnection::Frame(RawConnection::kData, 0, 2 * i + 1,
                             MessageHead(4 << 20) + std::string(100, 'm'))));
  }
  for (int i = 0; i < kStreams; ++i) {
    // Nobody wants the rest of the message: NO_ERROR.
    ASSERT_TRUE(connection.ReceiveUntil(RawConnection::Frame(
        RawConnection::kResetStream, 0, 2 * i + 1, std::string(4, '\0'))));
  }
  EXPECT_TRUE(connection.Answers());
}

TEST_F(UnreadCallsTest, ARequestMayComeLate) {
  SlowCall call(*fixture_, "Bearer key");
  {
    // A later call on the same port is answered meanwhile.
    SlowCall other(*fixture_, "Bearer key");
    ASSERT_TRUE(other.Send(MakeRequest({"abc"}, 1)));
    EXPECT_TRUE(other.Receive().has_value());
    EXPECT_TRUE(other.Finish().ok());
  }
  ASSERT_TRUE(call.Send(MakeRequest({"abcdefgh"}, 2)));
  const auto answer = call.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->results(0).choices(0).text(), "w279 w280");
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(UnreadCallsTest, ACallNeedsARequest) {
  SlowCall call(*fixture_, "Bearer key");
  call.SendNoMore();
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("without a request"));
}

// One that has come, and sends nothing more.
std::string Open(const std::string& authorization) {
  return RawConnection::Frame(
      RawConnection::kHeaders, RawConnection::kEndHeaders, 1,
      Headers(kGenerate) + Header("authorization", authorization));
}

TEST_F(UnreadCallsTest, ACallWhoseClientGoesIsCounted) {
  RawConnection connection(fixture_->server->port());
  ASSERT_TRUE(connection.Send(Open("Bearer key")));
  ASSERT_TRUE(connection.Answers());
  ASSERT_TRUE(connection.Send(RawConnection::Frame(
      RawConnection::kResetStream, 0, 1, std::string("\0\0\0\x8", 4))));
  EXPECT_TRUE(WaitUntil([&] {
    return fixture_->metrics.Serialize().find(
               "attend_requests_total{code=\"CANCELLED\",method=\"Generate\","
               "model=\"\"} 1") != std::string::npos;
  }));
}

TEST_F(UnreadCallsTest, TheyDoNotHoldTheServer) {
  RawConnection connection(fixture_->server->port());
  ASSERT_TRUE(connection.Send(Open("Bearer key")));
  ASSERT_TRUE(connection.Answers());
  fixture_->server->Shutdown(absl::Hours(1));  // returns
}

// Without HeapTrimmer some 20 MiB stay.
TEST(OpenCallsTest, MemoryOfTheirHeadersGoesBackToTheSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  RpcFixture fixture;
  std::string headers = Headers(kGenerate);
  for (int i = 0; i < 200; ++i) headers += Header("a", "b");
  int64_t full = 0;
  {
    RawConnection client(fixture.server->port());
    // Acknowledged settings come before many calls.
    ASSERT_TRUE(client.Answers());
    ASSERT_TRUE(client.Send(
        RawConnection::Frame(RawConnection::kSettings, RawConnection::kAck)));
    for (int call = 0; call < 300; ++call) {
      ASSERT_TRUE(client.Send(RawConnection::Frame(RawConnection::kHeaders,
                                                   RawConnection::kEndHeaders,
                                                   2 * call + 1, headers)));
    }
    ASSERT_TRUE(client.Answers());
    full = ResidentBytes();
  }
  EXPECT_TRUE(WaitUntil([&] { return ResidentBytes() < full - (10 << 20); }))
      << full << " " << ResidentBytes();
}

}  // namespace
}  // namespace attend
