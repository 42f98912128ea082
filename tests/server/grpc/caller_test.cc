#include "server/grpc/caller.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"

namespace attend {
namespace {

// The status of a call of ListModels with this `grpc-timeout`.
std::string StatusWithin(RpcFixture& fixture, const std::string& timeout) {
  RawConnection connection(fixture.server->port());
  EXPECT_TRUE(connection.Send(
      RawConnection::Frame(RawConnection::kHeaders, RawConnection::kEndHeaders,
                           1,
                           Headers("/attend.v1.Attend/ListModels") +
                               Header("grpc-timeout", timeout)) +
      RawConnection::Frame(RawConnection::kData, RawConnection::kEndStream, 1,
                           MessageHead(0))));
  return connection.ReceiveStatus();
}

// Go sends the first one for context.WithTimeout(ctx, math.MaxInt64), until the
// year 2318; the last one ends after 11,000 years.
TEST(CallerTest, ADeadlineMayBeCenturiesAway) {
  RpcFixture fixture;
  for (const char* timeout : {"2562047H", "99999999M", "99999999H"}) {
    EXPECT_EQ(StatusWithin(fixture, timeout), "0") << timeout;
  }
}

}  // namespace
}  // namespace attend
