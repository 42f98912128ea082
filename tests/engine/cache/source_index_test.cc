#include "engine/cache/source_index.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr int kTokens = 2;  // of a block
using Tokens = std::vector<int>;

std::vector<int> BlocksOf(const SourceIndex& index, const Tokens& tokens,
                          uint64_t salt = 0) {
  std::vector<int> blocks;
  for (int block = index.Find(tokens, salt); block != SourceIndex::kNone;
       block = index.next(block)) {
    blocks.push_back(block);
  }
  return blocks;
}

TEST(SourceIndexTest, FindsAllOfASourceOrNothing) {
  SourceIndex index(4, kTokens);
  EXPECT_EQ(index.Find({1, 2, 3}), SourceIndex::kNone);
  index.Seal({3, 0}, {1, 2, 3});
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}), (std::vector<int>{3, 0}));
  for (const Tokens& other :
       {Tokens{1, 2}, Tokens{1, 2, 4}, Tokens{1, 2, 3, 3}, Tokens{2, 2, 3}}) {
    EXPECT_EQ(index.Find(other), SourceIndex::kNone);
  }
  index.Seal({1}, {1, 2});
  EXPECT_EQ(BlocksOf(index, {1, 2}), std::vector<int>{1});
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}), (std::vector<int>{3, 0}));
}

TEST(SourceIndexTest, ASourceIsForgottenWithAnyOfItsBlocks) {
  for (int block : {3, 0, 1}) {
    SourceIndex index(4, kTokens);
    index.Seal({3, 0, 1}, {1, 2, 3, 4, 5});
    index.Seal({2}, {1});
    index.Forget(block);
    EXPECT_EQ(index.Find({1, 2, 3, 4, 5}), SourceIndex::kNone);
    EXPECT_EQ(index.Find({1}), 2);
    index.Seal({1, 0}, {7, 8, 9});
    EXPECT_EQ(BlocksOf(index, {7, 8, 9}), (std::vector<int>{1, 0}));
  }
}

TEST(SourceIndexTest, TheLatestOfEqualSourcesIsFound) {
  SourceIndex index(4, kTokens);
  index.Seal({0, 1}, {1, 2, 3});
  index.Seal({3, 2}, {1, 2, 3});
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}), (std::vector<int>{3, 2}));
  // The earlier blocks are of no source any more.
  index.Forget(0);
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}), (std::vector<int>{3, 2}));
  index.Seal({0, 1}, {4, 5, 6});
  EXPECT_EQ(BlocksOf(index, {4, 5, 6}), (std::vector<int>{0, 1}));
}

TEST(SourceIndexTest, SaltsAreApart) {
  SourceIndex index(4, kTokens);
  index.Seal({0, 1}, {1, 2, 3}, /*salt=*/7);
  EXPECT_EQ(index.Find({1, 2, 3}), SourceIndex::kNone);
  EXPECT_EQ(index.Find({1, 2, 3}, 8), SourceIndex::kNone);
  index.Seal({3, 2}, {1, 2, 3});
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}), (std::vector<int>{3, 2}));
  EXPECT_EQ(BlocksOf(index, {1, 2, 3}, 7), (std::vector<int>{0, 1}));
}

TEST(SourceIndexTest, ForgetsAll) {
  SourceIndex index(2, kTokens);
  index.Seal({0, 1}, {1, 2, 3});
  index.ForgetAll();
  EXPECT_EQ(index.Find({1, 2, 3}), SourceIndex::kNone);
  index.Seal({1, 0}, {1, 2, 3});
  EXPECT_EQ(index.Find({1, 2, 3}), 1);
}

TEST(SourceIndexTest, HasNoBlocks) {
  EXPECT_EQ(SourceIndex(0, kTokens).Find({1}), SourceIndex::kNone);
}

TEST(SourceIndexDeathTest, MisuseIsCaught) {
  SourceIndex index(4, kTokens);
  index.Seal({0}, {1, 2});
  EXPECT_DEATH(index.Seal({0}, {3}), "check failed");
  EXPECT_DEATH(index.Seal({1}, {1, 2, 3}), "check failed");
  EXPECT_DEATH(index.Seal({1, 2}, {1, 2}), "check failed");
}

// Against a map, with hashes that are good, all the same, and of few values.
class SourceIndexHashTest : public ::testing::TestWithParam<SourceIndex::Hash> {
};

TEST_P(SourceIndexHashTest, FindsWhatAMapFinds) {
  constexpr int kBlocks = 37;
  SourceIndex index(kBlocks, kTokens, GetParam());
  std::map<std::pair<Tokens, uint64_t>, std::vector<int>> expected;
  std::mt19937 random(1);
  const auto draw = [&](int n) { return static_cast<int>(random() % n); };
  const auto forget = [&](int block) {
    index.Forget(block);
    std::erase_if(expected, [&](const auto& source) {
      return std::count(source.second.begin(), source.second.end(), block) > 0;
    });
  };
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    Tokens tokens(1 + draw(5));
    for (int& token : tokens) token = draw(3);
    const uint64_t salt = draw(2);
    const auto there = expected.find({tokens, salt});
    ASSERT_EQ(BlocksOf(index, tokens, salt),
              there == expected.end() ? std::vector<int>() : there->second);
    found += there != expected.end();
    forget(draw(kBlocks));
    if (draw(4) == 0) continue;
    std::vector<int> blocks((tokens.size() + kTokens - 1) / kTokens);
    const int first = draw(kBlocks);
    for (size_t b = 0; b < blocks.size(); ++b) {
      blocks[b] = (first + 7 * static_cast<int>(b)) % kBlocks;
      forget(blocks[b]);
    }
    index.Seal(blocks, tokens, salt);
    expected[{tokens, salt}] = blocks;
  }
  EXPECT_GT(found, 500);
}

INSTANTIATE_TEST_SUITE_P(
    Hashes, SourceIndexHashTest,
    ::testing::Values(
        SourceIndex::DefaultHash,
        [](absl::Span<const int>, uint64_t) -> uint64_t { return 7; },
        [](absl::Span<const int> tokens, uint64_t) -> uint64_t {
          return 63 - tokens[0] % 2 * 3;
        }));

}  // namespace
}  // namespace attend
