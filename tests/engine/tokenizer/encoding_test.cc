#include "engine/tokenizer/text/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

using ::testing::ElementsAre;

// [first] text 10, 11, ... [-1] pair 20, 21, ... [-2]
Encoding Pair(int text, int pair) {
  Encoding encoding;
  encoding.Append(-3, 0, {});
  for (int i = 0; i < text; ++i) encoding.Append(10 + i, 0, {0, i, i + 1});
  encoding.Append(-1, 0, {});
  for (int i = 0; i < pair; ++i) encoding.Append(20 + i, 1, {1, i, i + 1});
  encoding.Append(-2, 1, {});
  return encoding;
}

std::vector<int> Truncated(Encoding encoding, int max_tokens,
                           TruncationSide side = TruncationSide::kRight) {
  Truncate(max_tokens, side, encoding);
  EXPECT_EQ(encoding.types.size(), encoding.ids.size());
  EXPECT_EQ(encoding.origins.size(), encoding.ids.size());
  return encoding.ids;
}

TEST(TruncateTest, WhatFitsStays) {
  Encoding encoding = Pair(1, 1);
  Truncate(5, TruncationSide::kRight, encoding);
  EXPECT_FALSE(encoding.truncated);
  Truncate(0, TruncationSide::kRight, encoding);
  EXPECT_THAT(encoding.ids, ElementsAre(-3, 10, -1, 20, -2));
  Truncate(4, TruncationSide::kRight, encoding);
  EXPECT_TRUE(encoding.truncated);
}

TEST(TruncateTest, TheLongerTextGivesFirst) {
  EXPECT_THAT(Truncated(Pair(4, 2), 8),
              ElementsAre(-3, 10, 11, 12, -1, 20, 21, -2));
  EXPECT_THAT(Truncated(Pair(1, 4), 7),
              ElementsAre(-3, 10, -1, 20, 21, 22, -2));
  // Equally long, and one is left: the longer one has it, of equals the pair.
  EXPECT_THAT(Truncated(Pair(4, 3), 6), ElementsAre(-3, 10, 11, -1, 20, -2));
  EXPECT_THAT(Truncated(Pair(3, 3), 6), ElementsAre(-3, 10, -1, 20, 21, -2));
}

TEST(TruncateTest, TheTextMayHaveTheOddToken) {
  for (const auto& [text, pair] : {std::pair(3, 3), {3, 4}, {4, 3}}) {
    Encoding encoding = Pair(text, pair);
    Truncate(6, TruncationSide::kRight, encoding, OddToken::kOfText);
    EXPECT_THAT(encoding.ids, ElementsAre(-3, 10, 11, -1, 20, -2));
  }
  Encoding encoding = Pair(1, 4);
  Truncate(6, TruncationSide::kRight, encoding, OddToken::kOfText);
  EXPECT_THAT(encoding.ids, ElementsAre(-3, 10, -1, 20, 21, -2));
}

TEST(TruncateTest, FromTheLeft) {
  EXPECT_THAT(Truncated(Pair(4, 3), 6, TruncationSide::kLeft),
              ElementsAre(-3, 12, 13, -1, 22, -2));
}

TEST(TruncateTest, OnlyTheTextIsCut) {
  const auto cut = [](Encoding encoding, int max_tokens) {
    Truncate(max_tokens, TruncationSide::kRight, encoding, OddToken::kOfLonger,
             PairCut::kTextOnly);
    return std::pair(encoding.ids, encoding.truncated);
  };
  using Ids = std::vector<int>;
  EXPECT_EQ(cut(Pair(2, 4), 8),
            std::pair(Ids({-3, 10, -1, 20, 21, 22, 23, -2}), true));
  // One token of the text has to stay.
  EXPECT_EQ(cut(Pair(2, 4), 7), std::pair(Pair(2, 4).ids, false));
}

TEST(TruncateTest, SpecialTokensStayToTheLast) {
  EXPECT_THAT(Truncated(Pair(4, 4), 3), ElementsAre(-3, -1, -2));
  EXPECT_THAT(Truncated(Pair(4, 4), 2), ElementsAre(-3, -1));
}

}  // namespace
}  // namespace attend
