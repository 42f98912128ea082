#include "client/cpp/lib/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

using ::testing::ElementsAre;

std::string Target(const std::string& addresses) {
  return TargetOf(SplitAddresses(addresses).value());
}

TEST(TargetTest, OneAddressIsHostAndPortOrHasAScheme) {
  EXPECT_EQ(Target(" attend.example:50051"), "attend.example:50051");
  EXPECT_EQ(Target("unix:/run/attend.sock"), "unix:/run/attend.sock");
  for (const char* address :
       {"attend.example:50051", "[::1]:1", "unix:/run/attend.sock", "unix:a",
        "unix-abstract:a", "dns:///attend.example:1", "dns:attend.example",
        "ipv4:10.0.0.1:1,10.0.0.2:2", "ipv6:[::1]:1,[::2]:1", "xds:///attend",
        "vsock:2:50051"}) {
    const auto split = SplitAddresses(address);
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_EQ(TargetOf(*split), address);
  }
  for (const char* bad :
       {"", "nowhere", "localhost:", "localhost:abc", "localhost:122587",
        "localhost:0", "localhost:+1", "::1", "::1:50051",
        "unix:", "http://localhost:50051"}) {
    EXPECT_EQ(
        SplitAddresses(bad).status().message(),
        std::string("address '") + bad + "' must be HOST:PORT or unix:PATH");
  }
}

TEST(TargetTest, AListIsSplit) {
  EXPECT_THAT(SplitAddresses("a:1, [::1]:2 ,c:65535").value(),
              ElementsAre("a:1", "[::1]:2", "c:65535"));
  for (const char* bad :
       {"", "a", ":1", "a:", "a:x", "a:-1", "a:65536", "unix:a", "[]:1"}) {
    const auto split = SplitAddresses(std::string("a:1,") + bad);
    EXPECT_EQ(split.status().message(),
              std::string("address '") + bad + "' must be HOST:PORT");
  }
}

TEST(TargetTest, ManyAddressesAreNumbersOfOneKind) {
  EXPECT_EQ(Target("10.0.0.1:1,10.0.0.2:2"), "ipv4:10.0.0.1:1,10.0.0.2:2");
  EXPECT_EQ(Target("[::1]:1,[fe80::2]:2"), "ipv6:[::1]:1,[fe80::2]:2");
  EXPECT_EQ(Target("[::1]:1,10.0.0.2:2"), "ipv6:[::1]:1,[::ffff:10.0.0.2]:2");
  EXPECT_EQ(Target("10.0.0.1:1,localhost:2"), "ipv4:10.0.0.1:1,127.0.0.1:2");
}

TEST(TargetTest, NamesThatAreNotKnownAreLeftOut) {
  EXPECT_EQ(Target("no.invalid:1,10.0.0.2:2"), "ipv4:10.0.0.2:2");
  EXPECT_EQ(Target("no.invalid:1,nor.invalid:2"), "no.invalid:1");
}

}  // namespace
}  // namespace attend
