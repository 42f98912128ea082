#include "server/grpc/port_probe.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/grpc/listener.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/grpc/sockets.h"

namespace attend {
namespace {

constexpr PortProbeOptions kOften = {.interval = absl::Milliseconds(1),
                                     .timeout = absl::Milliseconds(50),
                                     .failures = 2};

TEST(PortProbeTest, APortThatListensButDoesNotAcceptIsDead) {
  const auto listener = Listen("127.0.0.1", 0, absl::Seconds(20));
  ASSERT_TRUE(listener.ok());
  const PortProbe probe(listener->address, kOften);
  while (probe.alive()) std::this_thread::yield();
  // Somebody closes what waits, and what comes: the port lives again.
  while (!probe.alive()) {
    close(accept(listener->sockets.front().get(), nullptr, nullptr));
  }
}

TEST(PortProbeTest, AServerAnswers) {
  for (const char* host : {"127.0.0.1", "0.0.0.0", "localhost"}) {
    RpcFixtureOptions options;
    options.rpc.host = host;
    RpcFixture fixture(options);
    const PortProbe probe(Loopback(fixture.server->port()));
    EXPECT_TRUE(probe.Ask());
  }
}

}  // namespace
}  // namespace attend
