#include "engine/ops/matmul/operand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
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

const Int8Group* GroupsOfRow(const Operand& operand, int r) {
  return Int8Row::GroupsOf(operand.row(r), operand.cols);
}

const int8_t* CodesOfRow(const Operand& operand, int r) {
  return Int8Row::CodesOf(operand.row(r), 0);
}

TEST(OperandTest, ZerosAndTinyValuesAreZero) {
  Compute compute({.threads = 1, .max_isa = TestIsa()});
  std::vector<float> src(2 * 37, 0.0f);
  std::fill_n(src.begin() + 37, 37, 1e-39f);
  OperandBuffer buffer(ComputeType::kInt8, 2, 37);
  const Operand operand = Make(compute, src, 37, buffer);
  for (int r = 0; r < 2; ++r) {
    const Int8Group& group = *GroupsOfRow(operand, r);
    EXPECT_EQ(group.scale, 0.0f);
    EXPECT_EQ(group.negated_sum(), 0);
    for (size_t i = 0; i < Int8Row::CodeBytes(37); ++i) {
      ASSERT_EQ(CodesOfRow(operand, r)[i], 0);
    }
  }
}

// The numbers that the codes of row r stand for.
std::vector<float> Meant(const Operand& operand, int r) {
  std::vector<float> row;
  for (int c = 0; c < operand.cols; ++c) {
    const Int8Group& group = GroupsOfRow(operand, r)[c / Int8Group::kNumbers];
    row.push_back(group.scale * CodesOfRow(operand, r)[c]);
  }
  return row;
}

// Behind the last number there are zeros, and negated sums are those of the
// codes.
void ExpectWholeGroups(const Operand& operand, int r) {
  const int codes = static_cast<int>(Int8Row::CodeBytes(operand.cols));
  for (int begin = 0; begin < operand.cols; begin += Int8Group::kNumbers) {
    const Int8Group& group =
        GroupsOfRow(operand, r)[begin / Int8Group::kNumbers];
    int sum = 0;
    for (int i = begin; i < std::min(codes, begin + Int8Group::kNumbers); ++i) {
      const int code = CodesOfRow(operand, r)[i];
      ASSERT_TRUE(i < operand.cols || code == 0);
      sum += code;
    }
    ASSERT_EQ(group.negated_sum(), -sum);
  }
}

class SpreadTest : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, SpreadTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

TEST_P(SpreadTest, RowsAreSpreadThenRoundedInGroups) {
  Compute compute({.threads = 1, .max_isa = GetParam()});
  for (int cols : {1, 16, 37, 48, 64, 80, 128, 130, 300, 512, 520, 576, 1100}) {
    std::vector<float> src = Random(3 * cols);
    // A group's levels do not depend on another's numbers.
    for (int c = Int8Group::kNumbers; c < cols; ++c) src[c] *= 1000;
    OperandBuffer buffer(ComputeType::kInt8, 3, cols);
    const Operand operand = Make(compute, src, cols, buffer);
    for (int r = 0; r < 3; ++r) {
      const std::vector<float> expected =
          SpreadNaively(src.data() + r * cols, cols);
      const std::vector<float> found = Meant(operand, r);
      ExpectWholeGroups(operand, r);
      for (int begin = 0; begin < cols; begin += Int8Group::kNumbers) {
        const int end = std::min(cols, begin + Int8Group::kNumbers);
        float most = 0;
        for (int c = begin; c < end; ++c) {
          most = std::max(most, std::abs(expected[c]));
        }
        // A bf16 that is not below.
        const float scale =
            GroupsOfRow(operand, r)[begin / Int8Group::kNumbers].scale;
        EXPECT_GE(scale, most / 127 * (1 - 1e-5f));
        EXPECT_LE(scale, most / 127 * (1 + 1.0f / 127));
        EXPECT_EQ(std::bit_cast<uint32_t>(scale) & 0xffff, 0u);
        for (int c = begin; c < end; ++c) {
          ASSERT_NEAR(found[c], expected[c], scale * 0.502f)
              << cols << ", " << c;
        }
      }
    }
  }
}

// Rows of `cols` numbers as operands, made by pieces of up to `piece_rows` rows
// and `piece_columns` columns.
std::vector<char> MakePieces(Isa isa, ComputeType dtype,
                             const std::vector<float>& src, int cols,
                             int piece_rows, int piece_columns) {
  const int rows = static_cast<int>(src.size()) / cols;
  std::vector<char> made(rows * OperandBytes(dtype, cols));
  const Operand operand = {
      .dtype = dtype, .data = made.data(), .rows = rows, .cols = cols};
  for (int r = 0; r < rows; r += piece_rows) {
    for (int c = 0; c < cols; c += piece_columns) {
      EpilogueKernelsFor(isa).make_operand(
          &src[r * cols], operand, {r, std::min(rows, r + piece_rows)},
          {c, std::min(cols, c + piece_columns)});
    }
  }
  return made;
}

TEST_P(SpreadTest, BitsDependNeitherOnOtherRowsNorOnTheCut) {
  for (const ComputeType dtype :
       {ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8,
        ComputeType::kW8, ComputeType::kInt4}) {
    for (const int cols : {300, 1100, 1152}) {
      const std::vector<float> src = Random(5 * cols);
      const std::vector<char> whole =
          MakePieces(GetParam(), dtype, src, cols, 5, cols);
      for (const int piece_rows : {1, 2}) {
        const int group = GroupNumbers(dtype);
        for (const int piece_columns : {group, 2 * group, cols}) {
          ASSERT_EQ(MakePieces(GetParam(), dtype, src, cols, piece_rows,
                               piece_columns),
                    whole)
              << TypeName(dtype) << ", " << cols << ", " << piece_columns;
        }
      }
    }
  }
}

TEST_P(SpreadTest, ANumberThatIsNotFiniteSpoilsItsGroupOnly) {
  Compute compute({.threads = 1, .max_isa = GetParam()});
  for (const int cols : {600, 640, 1100}) {
    std::vector<float> src = Random(cols);
    OperandBuffer buffer(ComputeType::kInt8, 1, cols);
    OperandBuffer clean_buffer(ComputeType::kInt8, 1, cols);
    const Operand clean = Make(compute, src, cols, clean_buffer);
    for (const float odd : {INFINITY, -INFINITY, NAN}) {
      src[520] = odd;
      const Operand operand = Make(compute, src, cols, buffer);
      for (int g = 0; g < GroupsOf(ComputeType::kInt8, cols); ++g) {
        const Int8Group& group = GroupsOfRow(operand, 0)[g];
        const Int8Group& expected = GroupsOfRow(clean, 0)[g];
        if (g == 1) {
          EXPECT_TRUE(std::isnan(group.scale)) << odd;
          EXPECT_EQ(group.negated_sum(), 0);
          continue;
        }
        EXPECT_EQ(group.scale, expected.scale) << odd;
        EXPECT_EQ(group.negated_sum(), expected.negated_sum()) << odd;
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
