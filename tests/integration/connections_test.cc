// More connections than a server can have.

#include <gtest/gtest.h>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/integration/silent_connections.h"

namespace attend {
namespace {

constexpr int kDescriptors = 128;  // of the server
constexpr int kConnections = 150;

TEST(ConnectionsTest, ServesOnWhenDescriptorsRunOutAndAfterwards) {
  ServerProcess server({}, kDescriptors);
  Client older(server.client_options());
  ASSERT_TRUE(older.Generate(Greedy({"Hello."})).ok());
  {
    const SilentConnections flood(server.port(), kConnections);
    EXPECT_TRUE(flood.LastIsClosed());
    EXPECT_TRUE(older.Generate(Greedy({"Hello."})).ok());
    EXPECT_EQ(server.Get("/livez").code, 200);
    EXPECT_EQ(server.Get("/readyz").code, 200);
    EXPECT_GT(server.Metric("attend_grpc_connections_refused_total{reason="
                            "\"descriptors\"}"),
              0);
  }
  EXPECT_TRUE(Eventually(
      [&] { return server.Metric("attend_grpc_connections") == 1; }));
  EXPECT_FALSE(SilentConnections(server.port(), 1).LastIsClosed());
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

TEST(ConnectionsTest, LimitsInAllAndOfAnAddress) {
  for (const char* flag :
       {"--max-connections=3", "--max-connections-per-address=3"}) {
    ServerProcess server({flag});
    {
      const SilentConnections flood(server.port(), 4);
      EXPECT_TRUE(flood.LastIsClosed()) << flag;
    }
    EXPECT_TRUE(Eventually([&] {
      return !SilentConnections(server.port(), 1).LastIsClosed();
    })) << flag;
  }
}

}  // namespace
}  // namespace attend
