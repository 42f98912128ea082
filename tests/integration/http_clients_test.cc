// Clients of the HTTP port that hold connections and do nothing with them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>

#include "absl/time/clock.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::StartsWith;

int HttpPort(ServerProcess& server) {
  const std::string log = server.process().output();
  return std::stoi(log.substr(log.find("http_port=") + strlen("http_port=")));
}

TEST(HttpClientsTest, AThousandThatHoldConnectionsHoldUpNoProbe) {
  const ScopedDescriptorLimit limit(8192);
  ASSERT_TRUE(limit.ok());
  ServerProcess server;
  const int port = HttpPort(server);
  std::deque<RawHttp> clients = HoldConnections(port, 1000);
  ASSERT_EQ(clients.size(), 1000u);
  const absl::Time begin = absl::Now();
  for (int i = 0; i < 50; ++i) {
    for (const char* path : {"/livez", "/readyz", "/metrics"}) {
      ASSERT_EQ(server.Get(path).code, 200) << path << " " << i;
    }
  }
  // One probe alone took longer where connections had threads.
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  for (size_t i = 2; i < clients.size(); i += 4) {
    EXPECT_TRUE(clients[i].IsOpen());
  }
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

TEST(HttpClientsTest, ConnectionsLeaveDescriptorsForCalls) {
  ServerProcess server({}, /*descriptors=*/128);
  const int port = HttpPort(server);
  std::deque<RawHttp> clients;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(clients.emplace_back().Connect(port));
    ASSERT_TRUE(clients.back().Send("GET /li"));
  }
  EXPECT_EQ(server.Get("/livez").code, 200);
  Client client(server.client_options());
  EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
  EXPECT_TRUE(clients.back().IsOpen());
  EXPECT_FALSE(clients.front().IsOpen());
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
}

}  // namespace
}  // namespace attend
