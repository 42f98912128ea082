#include "engine/ops/matmul/operand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/ops/matmul/epilogue_kernel.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

std::vector<float> Random(int count) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// Of the rows of `values`, in the buffer.
Operand Make(Compute& compute, std::vector<float>& values, int cols,
             OperandBuffer& buffer) {
  const Matrix rows = {values.data(), static_cast<int>(values.size()) / cols,
                       cols};
  const Operand operand = buffer.Of(rows);
  MakeOperand(compute, rows, operand);
  return operand;
}

TEST(OperandTest, ZerosAndTinyValuesAreZero) {
  Compute compute({.threads = 1, .max_isa = TestIsa()});
  std::vector<float> src(2 * 37, 0.0f);
  std::fill_n(src.begin() + 37, 37, 1e-39f);
  OperandBuffer buffer(ComputeType::kInt8, 2, 37);
  const Operand operand = Make(compute, src, 37, buffer);
  for (int i = 0; i < 2 * 37; ++i) {
    ASSERT_EQ(static_cast<const uint8_t*>(operand.data)[i], 128);
  }
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(operand.scales[r], 0.0f);
    EXPECT_EQ(operand.offsets[r], 0.0f);
  }
}

// Rows on one side of 0, or nearly so, as activations leave them, lose half as
// much as by symmetric bytes; 0 stays 0.
TEST(OperandTest, LopsidedRowsUseAllBytes) {
  Compute compute({.threads = 1, .max_isa = TestIsa()});
  constexpr int kCols = 300;
  std::vector<float> src = Random(4 * kCols);
  for (int c = 0; c < kCols; ++c) {
    float* const at = src.data() + c;
    at[0] = std::max(at[0], 0.0f);                   // from 0 on
    at[kCols] = std::max(at[kCols], -0.17f);         // as GELU leaves them
    at[2 * kCols] = -std::max(at[2 * kCols], 0.0f);  // up to 0
    at[3 * kCols] = c == 7 ? 40.0f : at[3 * kCols] * 0.01f;  // one outlier
  }
  OperandBuffer buffer(ComputeType::kInt8, 4, kCols);
  const Operand operand = Make(compute, src, kCols, buffer);
  for (int r = 0; r < 4; ++r) {
    const float* const row = src.data() + r * kCols;
    const auto [least, most] = std::minmax_element(row, row + kCols);
    const float step = (*most - *least) / 254.0f;
    EXPECT_NEAR(operand.scales[r], step, 1e-6f * step);
    for (int c = 0; c < kCols; ++c) {
      const int byte = static_cast<const uint8_t*>(operand.row(r))[c] - 128;
      const float x =
          operand.scales[r] * (static_cast<float>(byte) + operand.offsets[r]);
      ASSERT_NEAR(x, row[c], step * 0.501f) << "row " << r;
      if (row[c] == 0) {
        ASSERT_EQ(x, 0) << "row " << r;
      }
    }
  }
}

// The numbers that the bytes of row r stand for.
std::vector<float> Meant(const Operand& operand, int r) {
  std::vector<float> row;
  for (int c = 0; c < operand.cols; ++c) {
    const int byte = static_cast<const uint8_t*>(operand.row(r))[c] - 128;
    row.push_back(operand.scales[r] *
                  (static_cast<float>(byte) + operand.offsets[r]));
  }
  return row;
}

class SpreadTest : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, SpreadTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

TEST_P(SpreadTest, RowsAreSpreadThenRounded) {
  Compute compute({.threads = 1, .max_isa = GetParam()});
  for (int cols : {16, 48, 64, 80, 576}) {
    std::vector<float> src = Random(3 * cols);
    OperandBuffer buffer(ComputeType::kInt8, 3, cols);
    const Operand operand = Make(compute, src, cols, buffer);
    for (int r = 0; r < 3; ++r) {
      const std::vector<float> expected =
          SpreadNaively(src.data() + r * cols, cols);
      const auto [least, most] = std::ranges::minmax(expected);
      const float step = (std::max(most, 0.0f) - std::min(least, 0.0f)) / 254;
      EXPECT_NEAR(operand.scales[r], step, 1e-5f * step);
      const std::vector<float> found = Meant(operand, r);
      for (int c = 0; c < cols; ++c) {
        ASSERT_NEAR(found[c], expected[c], step * 0.502f) << cols << ", " << c;
      }
    }
  }
}

TEST_P(SpreadTest, UnspreadARowIsWhatItWas) {
  const EpilogueKernels& kernels = EpilogueKernelsFor(GetParam());
  for (int cols : {16, 37, 48, 64, 576}) {
    const std::vector<float> row = Random(cols);
    std::vector<float> spread = SpreadNaively(row.data(), cols);
    kernels.unspread(spread.data(), cols);
    for (int c = 0; c < cols; ++c) ASSERT_NEAR(spread[c], row[c], 1e-5f);
  }
}

// Unless spread, the other numbers would all be 0.
TEST_P(SpreadTest, AnOutlierDoesNotHideTheOthers) {
  Compute compute({.threads = 1, .max_isa = GetParam()});
  const EpilogueKernels& kernels = EpilogueKernelsFor(GetParam());
  constexpr int kCols = 64;
  std::vector<float> src = Random(kCols);
  src[7] = 1000;
  OperandBuffer buffer(ComputeType::kInt8, 1, kCols);
  std::vector<float> found = Meant(Make(compute, src, kCols, buffer), 0);
  kernels.unspread(found.data(), kCols);
  double squares = 0;
  double errors = 0;
  for (int c = 0; c < kCols; ++c) {
    if (c == 7) continue;
    squares += src[c] * src[c];
    errors += (src[c] - found[c]) * (src[c] - found[c]);
  }
  EXPECT_LT(std::sqrt(errors), 0.5 * std::sqrt(squares));
}

}  // namespace
}  // namespace attend
