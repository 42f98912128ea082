#include "engine/ops/attention/mask.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// One line a query, "1" where it sees the key.
std::vector<std::string> Lines(const AttentionMask& mask, int b) {
  std::vector<std::string> lines;
  for (int q = 0; q < mask.queries; ++q) {
    std::string line;
    for (int k = 0; k < mask.keys; ++k)
      line += mask.Visible(b, q, k) ? '1' : '0';
    lines.push_back(line);
  }
  return lines;
}

TEST(MaskTest, PaddingHidesKeysAfterTheLength) {
  const AttentionMask mask = PaddingMask({2, 0, 3}, 2, 3);
  EXPECT_THAT(Lines(mask, 0), ElementsAre("110", "110"));
  EXPECT_THAT(Lines(mask, 1), ElementsAre("000", "000"));
  EXPECT_THAT(Lines(mask, 2), ElementsAre("111", "111"));
}

TEST(MaskTest, CausalHidesWhatComesLater) {
  EXPECT_THAT(Lines(CausalMask(2, 3, 3), 1), ElementsAre("100", "110", "111"));
}

TEST(MaskTest, CausalChunkIsTheLastRows) {
  EXPECT_THAT(Lines(CausalMask(1, 2, 4), 0), ElementsAre("1110", "1111"));
}

TEST(MaskTest, BothIsCausalAndPadding) {
  const AttentionMask both =
      Both(CausalMask(2, 3, 3), PaddingMask({2, 3}, 3, 3));
  EXPECT_THAT(Lines(both, 0), ElementsAre("100", "110", "110"));
  EXPECT_THAT(Lines(both, 1), ElementsAre("100", "110", "111"));
}

TEST(MaskTest, CallersMaskMayHaveHoles) {
  const AttentionMask mask = TokenMask({1, 0, 1, 0, 0, 1}, 2, 2);
  EXPECT_THAT(Lines(mask, 0), ElementsAre("101", "101"));
  EXPECT_THAT(Lines(mask, 1), ElementsAre("001", "001"));
}

TEST(MaskTest, TokenMaskOfLengthsIsThePaddingMask) {
  EXPECT_EQ(TokenMask({1, 1, 0, 1, 0, 0}, 2, 3).visible,
            PaddingMask({2, 1}, 3, 3).visible);
}

}  // namespace
}  // namespace attend
