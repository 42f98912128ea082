#include "engine/ops/matmul/group_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/ops/exec/number_group.h"
#include "engine/tensor/half.h"
#include "engine/tensor/stored_rows.h"

namespace attend {
namespace {

std::vector<float> Draw(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.1f, 0.02f);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(generator);
  return numbers;
}

std::vector<float> NumbersOf(const FourBitGroup& group) {
  std::vector<float> numbers;
  for (const uint8_t code : group.codes) {
    EXPECT_LT(code, 16);
    numbers.push_back(HalfToFloat(group.scale) * code + HalfToFloat(group.min));
  }
  return numbers;
}

double SquaredError(const std::vector<float>& a, const float* b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i], 2);
  return sum;
}

// The error of 16 equal levels from the least to the largest number.
double ErrorOfEvenLevels(const float* numbers) {
  const auto [least, most] = std::minmax_element(numbers, numbers + 32);
  const float step = (*most - *least) / 15;
  double sum = 0;
  for (int i = 0; i < 32; ++i) {
    const float code = std::nearbyint((numbers[i] - *least) / step);
    sum += std::pow(code * step + *least - numbers[i], 2);
  }
  return sum;
}

TEST(RoundToFourBitsTest, HasSmallerErrorsThanEvenLevels) {
  const std::vector<float> numbers = Draw(32 * 200, 1);
  double error = 0;
  double error_of_even = 0;
  for (size_t i = 0; i < numbers.size(); i += 32) {
    error += SquaredError(NumbersOf(RoundToFourBits(&numbers[i])), &numbers[i]);
    error_of_even += ErrorOfEvenLevels(&numbers[i]);
  }
  EXPECT_LT(error, 0.9 * error_of_even);
}

TEST(RoundToFourBitsTest, KeepsNumbersThatHaveFourBits) {
  std::vector<float> numbers(32);
  for (int i = 0; i < 32; ++i) numbers[i] = 0.125f * (i * 7 % 16) - 0.5f;
  EXPECT_EQ(NumbersOf(RoundToFourBits(numbers.data())), numbers);
  for (const float same : {0.0f, -0.75f, 1000.0f}) {
    const std::vector<float> equal(32, same);
    EXPECT_EQ(NumbersOf(RoundToFourBits(equal.data())), equal);
  }
}

// Packs rows of `cols` numbers, and reads them again.
std::vector<float> Packed(ComputeType dtype, const RowSource& rows) {
  std::vector<char> block(PackedBlockBytes(ComputeType::kW8, rows.cols()));
  std::vector<float> memory(size_t(rows.rows()) * rows.cols());
  const Matrix floats = {memory.data(), rows.rows(), rows.cols()};
  EXPECT_TRUE(PackGroups(dtype, rows, 0, floats, block.data()));
  std::vector<float> read(memory.size());
  for (int r = 0; r < rows.rows(); ++r) {
    ReadGroups(dtype, block.data(), r,
               {&read[size_t(r) * rows.cols()], size_t(rows.cols())});
  }
  return read;
}

TEST(PackGroupsTest, RoundsEachGroupForItself) {
  // A group that is filled up, and one of far larger numbers.
  std::vector<float> numbers = Draw(5 * 75, 2);
  for (int i = 32; i < 64; ++i) numbers[i] *= 1000;
  const StoredRows rows(ConstMatrix(numbers.data(), 5, 75));
  const std::vector<float> eight = Packed(ComputeType::kW8, rows);
  const std::vector<float> four = Packed(ComputeType::kInt4, rows);
  for (int i = 0; i < 5 * 75; ++i) {
    const float size = i >= 32 && i < 64 ? 1000 : 1;
    EXPECT_NEAR(eight[i], numbers[i], size * 0.2 / 254 * 1.01);
    EXPECT_NEAR(four[i], numbers[i], size * 0.12 / 30 * 2);
  }
}

TEST(PackGroupsTest, EightBitsHaveSmallerErrorsThanByTheLargestNumber) {
  const std::vector<float> numbers = Draw(32 * 64, 3);
  const StoredRows rows(ConstMatrix(numbers.data(), 64, 32));
  const std::vector<float> read = Packed(ComputeType::kW8, rows);
  double error_by_largest = 0;
  for (size_t i = 0; i < numbers.size(); i += 32) {
    float largest = 0;
    for (size_t j = i; j < i + 32; ++j) {
      largest = std::max(largest, std::abs(numbers[j]));
    }
    const float step = HalfToFloat(FloatToHalf(largest / 127));
    for (size_t j = i; j < i + 32; ++j) {
      const float rounded = std::nearbyint(numbers[j] / step) * step;
      error_by_largest += std::pow(rounded - numbers[j], 2);
    }
  }
  EXPECT_LT(SquaredError(read, numbers.data()), 0.9 * error_by_largest);
}

// Rows that a file has in 4 bits.
class FourBitRows final : public RowSource {
 public:
  int rows() const override { return 2; }
  int cols() const override { return 64; }
  void Read(int, Matrix) const override { FAIL() << "rounded again"; }
  bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const override {
    for (FourBitGroup& group : dst) {
      // No search for the best scale would find this one.
      group.scale = FloatToHalf(row == 0 ? -3.0f : 0.5f);
      group.min = FloatToHalf(static_cast<float>(++count_));
      for (int i = 0; i < 32; ++i) group.codes[i] = i % 3 + row;
    }
    return true;
  }

 private:
  mutable int count_ = 0;
};

TEST(PackGroupsTest, TakesNumbersOfFourBitsAsTheyAre) {
  const std::vector<float> read = Packed(ComputeType::kInt4, FourBitRows());
  for (int i = 0; i < 128; ++i) {
    const int row = i / 64;
    const int code = i % 32 % 3 + row;
    EXPECT_EQ(read[i], (row == 0 ? -3.0f : 0.5f) * code + (i / 32 + 1));
  }
}

TEST(PackGroupsTest, NumbersBeyondF16AreRefused) {
  for (const ComputeType dtype : {ComputeType::kW8, ComputeType::kInt4}) {
    for (const float number : {65504.0f, 65536.0f, 3e38f, -3e38f}) {
      std::vector<float> numbers(32, -number);
      numbers[3] = number;
      std::vector<char> block(WeightGroup<8>::kBytes);
      EXPECT_EQ(
          PackGroups(dtype, StoredRows(ConstMatrix(numbers.data(), 1, 32)), 0,
                     {numbers.data(), 1, 32}, block.data()),
          number == 65504.0f);
    }
  }
}

}  // namespace
}  // namespace attend
