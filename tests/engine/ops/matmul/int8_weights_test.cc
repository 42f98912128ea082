#include "engine/ops/matmul/int8_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/buffer.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr int kGroup = Int8Group::kNumbers;

std::vector<float> Random(int count, int seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// A row of weights in int8.
struct Rounded {
  explicit Rounded(int columns)
      : cols(columns), row(Int8Row::BytesOf(columns)) {}

  const uint8_t* codes() const {
    return reinterpret_cast<const uint8_t*>(row.data());
  }
  absl::Span<const Int8Weights> groups() const {
    return {Int8Row::GroupsOf<Int8Weights>(row.data(), cols),
            static_cast<size_t>(GroupsOf(ComputeType::kInt8, cols))};
  }

  int cols;
  Buffer<char> row;
};

class Int8WeightsTest : public testing::TestWithParam<Isa> {
 protected:
  Rounded Round(const std::vector<float>& row) const {
    const int columns = static_cast<int>(row.size());
    Rounded rounded(columns);
    EpilogueKernelsFor(GetParam())
        .round_weights(row.data(), columns, rounded.row.data());
    return rounded;
  }
};

INSTANTIATE_TEST_SUITE_P(Isas, Int8WeightsTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

// The numbers that groups stand for.
std::vector<float> Meant(const Rounded& rounded) {
  std::vector<float> row;
  for (int i = 0; i < rounded.cols; ++i) {
    const Int8Weights& group = rounded.groups()[i / kGroup];
    row.push_back(group.scale *
                  static_cast<float>(rounded.codes()[i] - group.zero));
  }
  return row;
}

TEST_P(Int8WeightsTest, EqualTheDefinition) {
  for (const int columns : {1, 16, 37, 64, 128, 130, 300, 512, 576, 1030}) {
    std::vector<float> row = Random(columns);
    // A group's levels do not depend on another's numbers.
    for (int i = kGroup; i < columns; ++i) row[i] *= 1000;
    std::vector<float> expected = SpreadNaively(row.data(), columns);
    RoundInt8WeightsNaively(expected);
    const std::vector<float> found = Meant(Round(row));
    for (int i = 0; i < columns; ++i) {
      ASSERT_NEAR(found[i], expected[i], std::abs(expected[i]) * 1e-6)
          << i << " of " << columns;
    }
  }
}

// A group has a range of its own, so that numbers of one sign have all codes.
TEST_P(Int8WeightsTest, LevelsAreThoseOfTheRange) {
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<float> row(37);  // that is not spread
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = sign * static_cast<float>(i);
    }
    const Rounded rounded = Round(row);
    EXPECT_EQ(rounded.groups()[0].zero == 0, sign > 0);
    EXPECT_EQ(rounded.groups()[0].zero >= 240, sign < 0);
    const uint8_t* const codes = rounded.codes();
    EXPECT_GE(*std::max_element(codes, codes + row.size()), 240);
    EXPECT_LE(*std::min_element(codes, codes + row.size()), 15);
    const std::vector<float> found = Meant(rounded);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_NEAR(found[i], row[i], 36.0 / 240 / 2) << i;
    }
  }
}

TEST_P(Int8WeightsTest, ZerosAndTinyNumbersAreZero) {
  for (const float number : {0.0f, 1e-39f, -1e-39f}) {
    const Rounded rounded = Round(std::vector<float>(kGroup + 5, number));
    for (const Int8Weights& group : rounded.groups()) {
      EXPECT_EQ(group.scale, 0.0f);
    }
  }
}

TEST_P(Int8WeightsTest, ScalesAreBf16AndFiniteForAnyFiniteNumbers) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const float largest : {1e-25f, 1.0f, kLargest}) {
    std::vector<float> row(37, -largest);
    row[5] = largest;
    const Rounded rounded = Round(row);
    const float scale = rounded.groups()[0].scale;
    ASSERT_TRUE(std::isfinite(scale)) << largest;
    EXPECT_EQ(std::bit_cast<uint32_t>(scale) & 0xffff, 0u);
    const std::vector<float> found = Meant(rounded);
    EXPECT_NEAR(found[0] / largest, -1, 0.01) << largest;
    EXPECT_NEAR(found[5] / largest, 1, 0.01) << largest;
  }
}

TEST_P(Int8WeightsTest, ANumberThatIsNotFiniteIsSeen) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kInfinity, -kInfinity, std::nanf("")}) {
    std::vector<float> row(kGroup + 5, 1.0f);
    row[kGroup + 2] = odd;
    const Rounded rounded = Round(row);
    EXPECT_TRUE(std::isnan(rounded.groups()[1].scale)) << odd;
    EXPECT_FALSE(std::isnan(rounded.groups()[0].scale)) << odd;
  }
}

TEST_P(Int8WeightsTest, AreReadBackAsTheyWerePacked) {
  constexpr int kNumbers = 2 * kGroup + 70;
  std::vector<char> block(PackedBlockBytes(ComputeType::kInt8, kNumbers), '\7');
  std::vector<std::vector<float>> expected;
  for (int column = 0; column < kGroupColumns; ++column) {
    std::vector<float> row = Random(kNumbers, column);
    const Rounded rounded = Round(row);
    PackInt8(rounded.row.data(), kNumbers, column, block.data());
    expected.push_back(Meant(rounded));
  }
  std::vector<float> found(kNumbers);
  for (int column = 0; column < kGroupColumns; ++column) {
    std::fill(found.begin(), found.end(), 0.0f);
    AddInt8(block.data(), column, absl::MakeSpan(found));
    ASSERT_EQ(found, expected[column]);
  }
}

}  // namespace
}  // namespace attend
