// Each allocation of a connection and a request fails in turn. The connection
// is answered or closed, and the next one is answered as before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/time/time.h"
#include "tests/server/http/test_server.h"
#include "tests/support/allocation_count.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

TEST(HttpFailingAllocationTest, TheNextConnectionIsAnswered) {
  const std::unique_ptr<HttpServer> server = StartTestServer({});
  const std::string request = HttpRequestText("GET", "/livez");
  const std::string wanted = HttpGet(server->port(), "/livez");
  EXPECT_THAT(wanted, testing::StartsWith("HTTP/1.1 200 "));
  bool failed = true;
  for (long n = 0; failed; ++n) {
    ASSERT_LT(n, 10'000);
    RawHttp client;
    AllocationFault::Arm(n);
    const bool sent = client.Connect(server->port()) && client.Send(request);
    const bool ended = client.WaitReadable(absl::Minutes(1));
    failed = AllocationFault::Disarm();
    ASSERT_TRUE(sent && ended) << "allocation " << n;
    ASSERT_EQ(HttpGet(server->port(), "/livez"), wanted) << "allocation " << n;
  }
}

}  // namespace
}  // namespace attend
