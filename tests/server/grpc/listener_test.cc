#include "server/grpc/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/sockets.h"

namespace attend {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(20);

TEST(ListenerTest, TakesNamesAddressesAndAllOfThem) {
  for (const char* host : {"127.0.0.1", "localhost", "0.0.0.0", "::", "[::]"}) {
    const auto listener = Listen(host, 0, kTimeout);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_GT(listener->port, 0);
    EXPECT_TRUE(Connect(listener->port).ok()) << host;
  }
}

TEST(ListenerTest, APortIsOfOneListener) {
  for (const char* host : {"127.0.0.1", "0.0.0.0"}) {
    const auto first = Listen(host, 0, kTimeout);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(Listen(host, first->port, kTimeout).status(),
              absl::UnavailableError(absl::StrCat("cannot listen on ", host,
                                                  ":", first->port,
                                                  ": address already in use")));
  }
}

TEST(ListenerTest, ErrorsSayWhy) {
  EXPECT_EQ(Listen("192.0.2.1", 1, kTimeout).status(),
            absl::UnavailableError("cannot listen on 192.0.2.1:1: cannot "
                                   "assign requested address"));
  EXPECT_EQ(Listen("no host", 1, kTimeout).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(ListenerTest, AdoptsSocketsThatListen) {
  auto first = Listen("127.0.0.1", 0, kTimeout);
  ASSERT_TRUE(first.ok());
  const Descriptor early = Connect(first->port);
  ASSERT_TRUE(early.ok());
  const int number = first->sockets[0].Release();
  const auto adopted = Adopt({number}, kTimeout);
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  ASSERT_EQ(adopted->sockets.size(), 1);
  EXPECT_EQ(adopted->sockets[0].get(), number);
  EXPECT_EQ(adopted->port, first->port);
  EXPECT_EQ(adopted->address.ss_family, AF_INET);
  // Who came before waits in it; then it would block.
  EXPECT_TRUE(Descriptor(accept(number, nullptr, nullptr)).ok());
  EXPECT_FALSE(Descriptor(accept(number, nullptr, nullptr)).ok());
}

TEST(ListenerTest, AdoptsNoFile) {
  EXPECT_EQ(Adopt({open("/dev/null", O_RDONLY | O_CLOEXEC)}, kTimeout)
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace attend
