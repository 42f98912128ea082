#include "engine/cache/prefix_index.h"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr int kTokens = 2;  // of a block
using Tokens = std::vector<int>;

TEST(PrefixIndexTest, FindsTokensAfterTheirChainOnly) {
  PrefixIndex index(4, kTokens);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
  index.Seal(3, ChainRoot(), Tokens{1, 2});
  index.Seal(0, index.chain(3), Tokens{1, 2});
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), 3);
  EXPECT_EQ(index.Find(index.chain(3), Tokens{1, 2}), 0);
  EXPECT_EQ(index.Find(index.chain(0), Tokens{1, 2}), -1);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 3}), -1);
  EXPECT_NE(index.chain(3), index.chain(0));
  EXPECT_EQ(index.chain(1), kNoChain);
}

TEST(PrefixIndexTest, AdaptersBeginApart) {
  PrefixIndex index(2, kTokens);
  index.Seal(0, ChainRoot(1), Tokens{1, 2});
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
  EXPECT_EQ(index.Find(ChainRoot(2), Tokens{1, 2}), -1);
  EXPECT_EQ(index.Find(ChainRoot(1), Tokens{1, 2}), 0);
}

TEST(PrefixIndexTest, SaltsBeginApart) {
  PrefixIndex index(4, kTokens);
  const ChainId salted = ChainRoot(0, 0, /*salt=*/7);
  index.Seal(0, salted, Tokens{1, 2});
  index.Seal(1, index.chain(0), Tokens{3, 4});
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
  EXPECT_EQ(index.Find(ChainRoot(0, 0, 8), Tokens{1, 2}), -1);
  EXPECT_EQ(index.Find(salted, Tokens{1, 2}), 0);
  EXPECT_EQ(index.Find(index.chain(0), Tokens{3, 4}), 1);
  index.Seal(2, ChainRoot(), Tokens{1, 2});
  EXPECT_NE(index.chain(2), index.chain(0));
  EXPECT_EQ(index.Find(index.chain(2), Tokens{3, 4}), -1);
}

TEST(PrefixIndexTest, TheLatestOfEqualBlocksIsFound) {
  PrefixIndex index(4, kTokens);
  index.Seal(0, ChainRoot(), Tokens{1, 2});
  index.Seal(1, index.chain(0), Tokens{3, 4});
  index.Seal(2, ChainRoot(), Tokens{1, 2});
  EXPECT_EQ(index.chain(2), index.chain(0));
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), 2);
  EXPECT_EQ(index.Find(index.chain(2), Tokens{3, 4}), 1);
  index.Forget(0);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), 2);
  index.Forget(2);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
}

TEST(PrefixIndexTest, NothingIsReachedThroughANewOne) {
  PrefixIndex index(2, kTokens);
  index.Seal(0, ChainRoot(), Tokens{1, 2});
  const ChainId old = index.chain(0);
  index.Seal(1, old, Tokens{3, 4});
  index.Forget(0);
  index.Seal(0, ChainRoot(), Tokens{5, 6});
  EXPECT_NE(index.chain(0), old);
  EXPECT_EQ(index.Find(index.chain(0), Tokens{3, 4}), -1);
}

TEST(PrefixIndexTest, ForgetsAll) {
  PrefixIndex index(2, kTokens);
  index.Seal(0, ChainRoot(), Tokens{1, 2});
  index.ForgetAll();
  EXPECT_EQ(index.chain(0), kNoChain);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
  index.Seal(0, ChainRoot(), Tokens{1, 2});
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), 0);
}

TEST(PrefixIndexTest, HasNoBlocks) {
  PrefixIndex index(0, kTokens);
  EXPECT_EQ(index.Find(ChainRoot(), Tokens{1, 2}), -1);
}

// Against a map, with hashes that are good, all the same, and of a few values
// at the end of the table.
class PrefixIndexHashTest : public ::testing::TestWithParam<PrefixIndex::Hash> {
};

TEST_P(PrefixIndexHashTest, FindsWhatAMapFinds) {
  constexpr int kBlocks = 37;
  PrefixIndex index(kBlocks, kTokens, GetParam());
  std::map<std::pair<ChainId, Tokens>, int> expected;
  std::vector<std::pair<ChainId, Tokens>> keys(kBlocks);
  std::mt19937 random(1);
  const auto draw = [&](int n) { return static_cast<int>(random() % n); };
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const ChainId parent = index.chain(draw(kBlocks));
    const std::pair<ChainId, Tokens> key = {
        draw(2) == 0 || parent == kNoChain ? ChainRoot(0, 0, draw(2)) : parent,
        {draw(3), draw(3)}};
    const auto there = expected.find(key);
    ASSERT_EQ(index.Find(key.first, key.second),
              there == expected.end() ? -1 : there->second);
    found += there != expected.end();
    const int block = draw(kBlocks);
    const auto mine = expected.find(keys[block]);
    if (mine != expected.end() && mine->second == block) expected.erase(mine);
    index.Forget(block);
    if (draw(4) == 0) continue;
    index.Seal(block, key.first, key.second);
    keys[block] = key;
    expected[key] = block;
  }
  EXPECT_GT(found, 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Hashes, PrefixIndexHashTest,
    ::testing::Values(
        PrefixIndex::DefaultHash,
        [](ChainId, absl::Span<const int>) -> uint64_t { return 7; },
        [](ChainId, absl::Span<const int> tokens) -> uint64_t {
          return 127 - tokens[0] % 2 * 3;
        }));

}  // namespace
}  // namespace attend
