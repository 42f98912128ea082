#include "server/grpc/listener.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace attend
