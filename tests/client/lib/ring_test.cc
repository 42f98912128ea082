#include "client/cpp/lib/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

const auto kAll = [](size_t) { return true; };

// The servers of so many keys.
std::vector<size_t> Owners(const Ring& ring,
                           absl::FunctionRef<bool(size_t)> good) {
  std::vector<size_t> owners;
  for (int i = 0; i < 1000; ++i) {
    owners.push_back(ring.Find(absl::StrCat("key ", i), good));
  }
  return owners;
}

TEST(RingTest, ServersHaveLikeShares) {
  const std::vector<size_t> owners =
      Owners(Ring({"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"}), kAll);
  for (size_t server = 0; server < 3; ++server) {
    EXPECT_GT(std::count(owners.begin(), owners.end(), server), 250);
  }
}

TEST(RingTest, AServerThatIsNotGoodLeavesItsKeysToAllOthers) {
  const Ring ring({"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"});
  const auto before = Owners(ring, kAll);
  const auto after = Owners(ring, [](size_t server) { return server != 1; });
  std::set<size_t> heirs;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] != 1) {
      EXPECT_EQ(after[i], before[i]);
    } else {
      heirs.insert(after[i]);
    }
  }
  EXPECT_EQ(heirs, (std::set<size_t>{0, 2}));
}

TEST(RingTest, WhereNoneIsGoodItIsTheFirst) {
  const Ring ring({"10.0.0.1:1", "10.0.0.2:1"});
  EXPECT_EQ(Owners(ring, [](size_t) { return false; }), Owners(ring, kAll));
}

TEST(RingTest, TheOrderOfServersDoesNotMatter) {
  const std::vector<std::string> servers = {"10.0.0.1:1", "10.0.0.2:1"};
  const auto owners = Owners(Ring(servers), kAll);
  const auto reversed = Owners(Ring({servers[1], servers[0]}), kAll);
  for (size_t i = 0; i < owners.size(); ++i) {
    EXPECT_EQ(reversed[i], 1 - owners[i]);
  }
}

TEST(RingTest, OneServer) {
  EXPECT_EQ(Ring({"10.0.0.1:1"}).Find("", kAll), 0u);
}

}  // namespace
}  // namespace attend
