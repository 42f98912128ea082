#include "engine/decoding/uniform_random.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// Known answers that the authors of Philox publish with Random123.
TEST(UniformRandomTest, PhiloxGivesTheKnownAnswers) {
  EXPECT_THAT(Philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                     {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(UniformRandomTest, EachArgumentCounts) {
  std::set<double> seen;
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
    for (uint32_t choice : {0, 1, 2}) {
      for (uint32_t position : {0, 1, 2}) {
        const double value = UniformRandom(seed, choice, position);
        EXPECT_GE(value, 0);
        EXPECT_LT(value, 1);
        seen.insert(value);
      }
    }
  }
  EXPECT_EQ(seen.size(), 27u);
}

TEST(UniformRandomTest, IsUniform) {
  constexpr int kDraws = 16000;
  int bins[16] = {};
  for (int i = 0; i < kDraws; ++i) {
    ++bins[static_cast<int>(16 * UniformRandom(7, 3, i))];
  }
  double chi_square = 0;
  for (int count : bins) {
    const double off = count - kDraws / 16.0;
    chi_square += off * off / (kDraws / 16.0);
  }
  EXPECT_LT(chi_square, 37.7);  // 15 degrees of freedom, p = 0.001
}

}  // namespace
}  // namespace attend
