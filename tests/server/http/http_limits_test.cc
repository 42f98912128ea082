// Clients that do nothing, too little or too much.

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <string>

#include "absl/time/clock.h"
#include "tests/server/http/test_server.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::StartsWith;

constexpr absl::Duration kShort = absl::Milliseconds(50);
constexpr absl::Duration kNever = absl::Hours(1);

// So large that a part stays with the server of a client that does not read.
OperatorSources LargeMetrics() {
  return {.metrics = [] { return std::string(4 << 20, 'm'); },
          .live = [] { return true; },
          .ready = [] { return true; }};
}

// Answers that are not as they should be while `count` clients probe.
int FailedProbes(int port, int count) {
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    const char* path = i % 2 == 0 ? "/livez" : "/readyz";
    failed += HttpGet(port, path).rfind("HTTP/1.1 200 ", 0) != 0;
  }
  return failed;
}

TEST(HttpLimitsTest, ProbesPassAThousandClientsThatHoldTheirConnections) {
  const ScopedDescriptorLimit limit(8192);
  ASSERT_TRUE(limit.ok());
  const auto server = StartTestServer({.head_timeout = kNever,
                                       .idle_timeout = kNever,
                                       .answer_timeout = kNever},
                                      LargeMetrics());
  std::deque<RawHttp> clients = HoldConnections(server->port(), 1000);
  ASSERT_EQ(clients.size(), 1000u);
  const absl::Time begin = absl::Now();
  EXPECT_EQ(FailedProbes(server->port(), 100), 0);
  for (size_t i = 1; i < clients.size(); i += 4) {
    ASSERT_TRUE(clients[i].Send("E"));
  }
  EXPECT_EQ(FailedProbes(server->port(), 100), 0);
  EXPECT_EQ(HttpGet(server->port(), "/metrics").size() >> 20, 4u);
  // One probe alone took longer where connections had threads.
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  for (const RawHttp& client : clients) EXPECT_TRUE(client.IsOpen());
}

TEST(HttpLimitsTest, AHeadHasToArriveInTime) {
  const auto server =
      StartTestServer({.head_timeout = kShort, .idle_timeout = kNever});
  RawHttp half;
  ASSERT_TRUE(half.Connect(server->port()));
  ASSERT_TRUE(half.Send("GET /livez HTTP/1.1\r\nHost: a\r\n"));
  EXPECT_THAT(half.ReadToEnd(), StartsWith("HTTP/1.1 408 "));
  RawHttp silent;
  ASSERT_TRUE(silent.Connect(server->port()));
  EXPECT_EQ(silent.ReadToEnd(), "");
  // The time is that of the whole head, not of a byte, and the same for
  // requests that come later.
  RawHttp slow;
  ASSERT_TRUE(slow.Connect(server->port()));
  ASSERT_TRUE(slow.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(slow.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  ASSERT_TRUE(slow.Send("GET /livez HTTP/1.1\r\na: "));
  while (!slow.WaitReadable(kShort / 10)) ASSERT_TRUE(slow.Send("b"));
  EXPECT_THAT(slow.ReadToEnd(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpLimitsTest, AnIdleConnectionIsClosed) {
  const auto server =
      StartTestServer({.head_timeout = kNever, .idle_timeout = kShort});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpLimitsTest, AnAnswerHasToBeReadInTime) {
  const auto server =
      StartTestServer({.answer_timeout = kShort}, LargeMetrics());
  RawHttp client;
  client.ReceiveLittle();
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send(HttpRequestText("GET", "/metrics")));
  while (client.IsOpen()) EXPECT_EQ(FailedProbes(server->port(), 1), 0);
  EXPECT_EQ(client.ReadAnswer(), "");  // not whole
}

TEST(HttpLimitsTest, ARefusedClientThatGoesOnSendingGetsItsAnswer) {
  const auto server = StartTestServer({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send(
      HttpRequestText("POST", "/metrics", "Content-Length: 1000000\r\n")));
  while (!client.WaitReadable(absl::ZeroDuration())) {
    ASSERT_TRUE(client.Send(std::string(1000, 'x')));
  }
  ASSERT_TRUE(client.Send(std::string(100000, 'x')));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpLimitsTest, TheConnectionThatWaitsLongestMakesRoom) {
  const auto server = StartTestServer({.max_connections = 3});
  std::deque<RawHttp> clients;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(clients.emplace_back().Connect(server->port()));
    ASSERT_TRUE(clients[i].Send("GET /livez HTTP/1.1\r\nHost: a\r\n"));
  }
  // The first one makes progress, so it is not the oldest any more.
  ASSERT_TRUE(clients[0].Send("\r\n"));
  EXPECT_THAT(clients[0].ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(FailedProbes(server->port(), 1), 0);
  EXPECT_EQ(clients[1].ReadToEnd(), "");
  EXPECT_TRUE(clients[2].IsOpen());
  ASSERT_TRUE(clients[0].Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(clients[0].ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpLimitsTest, ProbesPassWhenTheProcessHasNoDescriptorLeft) {
  for (const int free : {0, 1, 5}) {
    const auto server = StartTestServer({});
    // Descriptors of the clients are there already.
    std::deque<RawHttp> clients(20);
    const ScopedDescriptorLimit limit(NextDescriptor() + free);
    ASSERT_TRUE(limit.ok());
    for (RawHttp& client : clients) {
      ASSERT_TRUE(client.Connect(server->port()));
      ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
      EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 ")) << free;
    }
    // The newest ones stay; where none was free, the spare one serves.
    const size_t closed = clients.size() - std::max(free, 1);
    for (size_t i = 0; i < clients.size(); ++i) {
      EXPECT_EQ(clients[i].IsOpen(), i >= closed) << i << " with " << free;
    }
  }
}

}  // namespace
}  // namespace attend
