#include "engine/ops/logits/top_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// The order that TokenScore describes, rule by rule.
bool ComesBefore(const TokenScore& a, const TokenScore& b) {
  if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
  if (!std::isnan(a.score) && a.score != b.score) return a.score > b.score;
  return a.id < b.id;
}

// Scores that few tokens have alone.
std::vector<TokenScore> RandomTokens(int count) {
  const float scores[] = {0,
                          -0.0f,
                          1,
                          -1,
                          2.5,
                          -2.5,
                          kInf,
                          -kInf,
                          NAN,
                          -NAN,
                          std::numeric_limits<float>::min(),
                          1e30};
  std::mt19937 random(3);
  std::vector<TokenScore> tokens;
  for (int id = 0; id < count; ++id) {
    const float score = random() % 4 == 0
                            ? std::normal_distribution<float>()(random)
                            : scores[random() % std::size(scores)];
    tokens.push_back({id, score});
  }
  std::shuffle(tokens.begin(), tokens.end(), random);
  return tokens;
}

void ExpectSame(const TokenScore& found, const TokenScore& expected) {
  EXPECT_EQ(found.id, expected.id);
  if (std::isnan(expected.score)) {
    EXPECT_TRUE(std::isnan(found.score));
  } else {
    EXPECT_EQ(found.score, expected.score);
  }
}

TEST(TopListTest, RanksHaveTheOrderOfTokens) {
  const std::vector<TokenScore> tokens = RandomTokens(200);
  for (const TokenScore& a : tokens) {
    ExpectSame(TokenOf(RankOf(a)), a);
    for (const TokenScore& b : tokens) {
      ASSERT_EQ(RankOf(a) > RankOf(b), ComesBefore(a, b))
          << a.score << " " << b.score;
    }
  }
  const TokenScore last = {std::numeric_limits<int>::max(), NAN};
  ExpectSame(TokenOf(RankOf(last)), last);
}

TEST(TopListTest, KeepsTheBestOfAnyNumber) {
  std::vector<TokenScore> tokens = RandomTokens(300);
  for (const int capacity : {0, 1, 2, 9, 64, TopList::kMaxTokens}) {
    for (const int count : {0, 1, 8, 127, 300}) {
      std::vector<uint64_t> memory(capacity);
      TopList list(memory.data(), capacity);
      for (int i = 0; i < count; ++i) list.Offer(RankOf(tokens[i]));
      std::vector<TokenScore> expected(tokens.begin(), tokens.begin() + count);
      std::sort(expected.begin(), expected.end(), ComesBefore);
      expected.resize(std::min(count, capacity));
      EXPECT_EQ(list.full(), count >= capacity);
      std::vector<TokenScore> found(capacity);
      ASSERT_EQ(list.Copy(found.data()), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        ExpectSame(found[i], expected[i]);
      }
      if (capacity > 0 && list.full()) {
        ExpectSame({expected.back().id, list.worst()}, expected.back());
      }
    }
  }
}

}  // namespace
}  // namespace attend
