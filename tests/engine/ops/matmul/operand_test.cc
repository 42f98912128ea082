#include "engine/ops/matmul/operand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

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

}  // namespace
}  // namespace attend
