#include "engine/ops/matmul/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/compute/range.h"
#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/ops/matmul/group_weights.h"
#include "engine/ops/matmul/isa_limit.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/matmul/matmul_runs.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

// Rounding errors of k products and sums stay below k * epsilon * |a| |b|;
// typically they are far smaller, and a wrong value is far larger.
void ExpectProduct(const std::vector<float>& dst, ConstMatrix src,
                   ConstMatrix weights) {
  const double bound = 1e-6 * std::sqrt(static_cast<double>(src.cols)) + 1e-7;
  for (int r = 0; r < src.rows; ++r) {
    for (int c = 0; c < weights.rows; ++c) {
      double sum = 0;
      double square_a = 0;
      double square_b = 0;
      for (int i = 0; i < src.cols; ++i) {
        const double a = src.row(r)[i];
        const double b = weights.row(c)[i];
        sum += a * b;
        square_a += a * a;
        square_b += b * b;
      }
      ASSERT_NEAR(dst[static_cast<size_t>(r) * weights.rows + c], sum,
                  bound * std::sqrt(square_a * square_b))
          << "row " << r << ", column " << c;
    }
  }
}

TEST(MatMulTest, EqualsTheDefinitionInOddShapes) {
  constexpr std::pair<int, int> kShapes[] = {
      {1, 1}, {7, 5}, {33, 65}, {48, 128}, {17, 201}, {600, 70}, {1100, 9}};
  for (int threads : {1, 2, 3}) {
    for (const auto& [k, n] : kShapes) {
      TestExec exec(threads);
      const Values weights(n, k, 1);
      const Values src(300, k, 2);
      const auto matmul = MatMul::Create(exec.primitives, ComputeType::kF32,
                                         StoredRows(weights.All()), 300);
      ASSERT_TRUE(matmul.ok()) << matmul.status();
      EXPECT_EQ(matmul->in(), k);
      EXPECT_EQ(matmul->out(), n);
      for (int m : {1, 2, 3, 7, 16, 31, 63, 64, 65, 70, 129, 256, 300}) {
        SCOPED_TRACE(testing::Message() << threads << " threads, " << m << " x "
                                        << k << " x " << n);
        ExpectProduct(Multiply(exec.context(), *matmul, src.First(m)),
                      src.First(m), weights.All());
      }
    }
  }
}

TEST(MatMulTest, NoRowsAreNoWork) {
  TestExec exec(2);
  const Values weights(200, 8, 1);
  const auto matmul = MatMul::Create(exec.primitives, ComputeType::kF32,
                                     StoredRows(weights.All()), 4);
  ASSERT_TRUE(matmul.ok());
  EXPECT_TRUE(Multiply(exec.context(), *matmul, {nullptr, 0, 8}).empty());
}

TEST(MatMulTest, TypeThatTheInstructionsLackIsRefused) {
  ASSERT_EQ(CheckComputeType(ComputeType::kInt8, Isa::kAvx512).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CheckComputeType(ComputeType::kInt8, Isa::kAvx2).message(),
            "dtype is int8, which needs avx512_vnni; available is avx2");
  EXPECT_FALSE(CheckComputeType(ComputeType::kBf16, Isa::kAvx2).ok());
  EXPECT_TRUE(CheckComputeType(ComputeType::kF32, Isa::kBaseline).ok());
}

// What types with groups make of a group: as the weights' own tests have it,
// and of an operand 16 or 8 bits.
void RoundGroup(ComputeType dtype, bool weights, float* numbers, int count) {
  if (weights) {
    StoredRows row(ConstMatrix(numbers, 1, count));
    std::vector<char> block(WeightGroup<8>::kBytes);
    std::vector<float> floats(count);
    ASSERT_TRUE(
        PackGroups(dtype, row, 0, {floats.data(), 1, count}, block.data()));
    return ReadGroups(dtype, block.data(), 0, {numbers, size_t(count)});
  }
  float most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, std::abs(numbers[i]));
  const float codes = dtype == ComputeType::kW8 ? 32767 : 127;
  for (int i = 0; i < count; ++i) {
    numbers[i] = std::nearbyint(numbers[i] * (codes / most)) * (most / codes);
  }
}

// What the dtype makes of a value: the naive twin of packed weights and of an
// operand. In int8 the rows are spread, and so are both sides of a product.
std::vector<float> Rounded(ComputeType dtype, ConstMatrix m, bool weights) {
  std::vector<float> out;
  for (int r = 0; r < m.rows; ++r) {
    std::vector<float> row(m.row(r), m.row(r) + m.cols);
    const bool int8 = dtype == ComputeType::kInt8;
    if (int8) row = SpreadNaively(m.row(r), m.cols);
    if (int8) weights ? RoundInt8WeightsNaively(row) : RoundInt8Naively(row);
    const bool others = IsGrouped(dtype) && !int8;
    for (int c = 0; others && c < m.cols; c += kGroupNumbers) {
      RoundGroup(dtype, weights, &row[c], std::min(kGroupNumbers, m.cols - c));
    }
    for (float& x : row) {
      if (dtype != ComputeType::kBf16) break;
      // 8 bits of the significand, rounded to nearest even.
      int exponent = 0;
      const float fraction = std::frexp(x, &exponent);
      x = std::ldexp(std::nearbyint(fraction * 256.0f) / 256.0f, exponent);
    }
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

TEST(MatMulTest, EveryDTypeMultipliesItsRoundedValues) {
  for (const ComputeType dtype : kAllComputeTypes) {
    if (!Supported(dtype)) continue;
    for (const auto& [k, n] : std::vector<std::pair<int, int>>{
             {1, 1}, {7, 5}, {33, 65}, {130, 201}, {512, 192}}) {
      const Values weights(n, k, 1);
      const Values src(140, k, 2);
      const std::vector<float> rounded = Rounded(dtype, src.All(), false);
      const std::vector<float> rounded_weights =
          Rounded(dtype, weights.All(), true);
      for (int threads : {1, 2}) {
        TestExec exec(threads);
        const auto matmul = MatMul::Create(exec.primitives, dtype,
                                           StoredRows(weights.All()), 140);
        ASSERT_TRUE(matmul.ok()) << matmul.status();
        for (int m : {1, 2, 5, 63, 64, 140}) {
          SCOPED_TRACE(testing::Message() << TypeName(dtype) << " " << m
                                          << " x " << k << " x " << n);
          ExpectProduct(Multiply(exec.context(), *matmul, src.First(m)),
                        {rounded.data(), m, k}, {rounded_weights.data(), n, k});
        }
      }
    }
  }
}

// `m` as weights of which the columns (rows of m) of `precise` are precise, and
// those in the same blocks: what they lose is rounded once more.
std::vector<float> PreciselyRounded(ConstMatrix m, Range precise) {
  const int begin = precise.begin / kGroupColumns * kGroupColumns;
  const int end =
      (precise.end + kGroupColumns - 1) / kGroupColumns * kGroupColumns;
  std::vector<float> out;
  for (int r = 0; r < m.rows; ++r) {
    std::vector<float> rounded = SpreadNaively(m.row(r), m.cols);
    RoundInt8WeightsNaively(rounded);
    std::vector<float> rest(m.row(r), m.row(r) + m.cols);
    const std::vector<float> read = UnspreadNaively(rounded);
    const bool is_precise =
        precise.begin < precise.end && begin <= r && r < end;
    for (int i = 0; i < m.cols; ++i) {
      rest[i] = is_precise ? rest[i] - read[i] : 0;
    }
    rest = SpreadNaively(rest.data(), m.cols);
    RoundInt8WeightsNaively(rest);
    for (int i = 0; i < m.cols; ++i) out.push_back(rounded[i] + rest[i]);
  }
  return out;
}

TEST(MatMulTest, PreciseColumnsAreRoundedTwice) {
  if (!Supported(ComputeType::kInt8)) GTEST_SKIP() << "no int8";
  struct Shape {
    int k, n;
    Range precise;
  };
  // The last columns, whole blocks, all columns, none, columns before others;
  // more members than blocks.
  for (const auto& [k, n, precise] : {Shape{33, 65, {64, 65}},
                                      {130, 201, {131, 201}},
                                      {512, 192, {128, 192}},
                                      {70, 130, {0, 130}},
                                      {130, 97, {97, 97}},
                                      {130, 330, {0, 70}},
                                      {64, 520, {200, 300}}}) {
    const Values weights(n, k, 1);
    const Values src(70, k, 2);
    const std::vector<float> rounded =
        Rounded(ComputeType::kInt8, src.All(), false);
    const std::vector<float> rounded_weights =
        PreciselyRounded(weights.All(), precise);
    std::vector<float> first;
    for (const int threads : {1, 2, 8}) {
      TestExec exec(threads);
      const auto matmul =
          MatMul::Create(exec.primitives, ComputeType::kInt8,
                         StoredRows(weights.All()), 70, precise);
      ASSERT_TRUE(matmul.ok()) << matmul.status();
      for (const int m : {1, 2, 5, 40, 70}) {
        SCOPED_TRACE(testing::Message()
                     << threads << " threads, " << m << " x " << k << " x " << n
                     << ", precise " << precise.begin << " to " << precise.end);
        const std::vector<float> dst =
            Multiply(exec.context(), *matmul, src.First(m));
        ExpectProduct(dst, {rounded.data(), m, k},
                      {rounded_weights.data(), n, k});
        if (m == 1 && threads == 1) first = dst;
        EXPECT_TRUE(std::equal(first.begin(), first.end(), dst.begin()));
      }
    }
  }
}

TEST(MatMulTest, NumbersBeyondTheScalesOfGroupsAreRefused) {
  Values weights(70, 40, 1);
  weights.data[69 * 40 + 39] = -70000;
  for (const ComputeType dtype : {ComputeType::kW8, ComputeType::kInt4}) {
    TestExec exec(2);
    const absl::Status status =
        MatMul::Create(exec.primitives, dtype, StoredRows(weights.All()), 1)
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(),
                testing::AllOf(testing::HasSubstr(TypeName(dtype)),
                               testing::HasSubstr("70 rows and 40 columns"),
                               testing::HasSubstr("65504")));
  }
}

struct Shape {
  int k;
  int n;
  int step;  // of the numbers of rows tried
};

class InvarianceTest
    : public testing::TestWithParam<std::tuple<ComputeType, Shape>> {};

// Row r has the same bits alone and in any company, for any team. oneDNN gives
// this with AVX-512 only.
TEST_P(InvarianceTest, BitsDoNotDependOnRowsOrTeam) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "not promised below AVX2";
  const ComputeType dtype = std::get<0>(GetParam());
  if (!Supported(dtype)) GTEST_SKIP() << "not on this machine";
  const auto [k, n, step] = std::get<1>(GetParam());
  const int max_rows = kSanitized ? 70 : 256;  // more than go together
  const Values weights(n, k, 1);
  const Values src(max_rows, k, 2);
  std::vector<float> alone(static_cast<size_t>(max_rows) * n);
  for (int threads : {1, 2, 3}) {
    TestExec exec(threads);
    const auto matmul = MatMul::Create(exec.primitives, dtype,
                                       StoredRows(weights.All()), max_rows);
    ASSERT_TRUE(matmul.ok());
    for (int r = 0; threads == 1 && r < max_rows; ++r) {
      ASSERT_TRUE(RunOn(exec.context(), *matmul, {src.All().row(r), 1, k}, {},
                        {&alone[static_cast<size_t>(r) * n], 1, n})
                      .ok());
    }
    for (int m = 1; m <= max_rows; m += step) {
      const std::vector<float> dst =
          Multiply(exec.context(), *matmul, src.First(m));
      ASSERT_EQ(
          std::memcmp(dst.data(), alone.data(), dst.size() * sizeof(float)), 0)
          << m << " rows, " << threads << " threads";
    }
  }
}

// Those of the bundled model, of an OPUS-MT base model, and tiny ones.
INSTANTIATE_TEST_SUITE_P(
    Shapes, InvarianceTest,
    testing::Combine(testing::ValuesIn(kAllComputeTypes),
                     testing::Values(Shape{256, 768, 3}, Shape{256, 256, 1},
                                     Shape{256, 1024, 5}, Shape{1024, 256, 5},
                                     Shape{256, 8001, 51}, Shape{512, 1536, 17},
                                     Shape{512, 512, 7}, Shape{512, 2048, 23},
                                     Shape{2048, 512, 23}, Shape{4096, 128, 31},
                                     Shape{16, 16, 5}, Shape{24, 70, 5},
                                     Shape{7, 200, 5})),
    [](const auto& test) {
      const Shape& shape = std::get<1>(test.param);
      return std::string(TypeName(std::get<0>(test.param))) + "_" +
             std::to_string(shape.k) + "x" + std::to_string(shape.n);
    });

// Most matmuls are computed by kernels of our own, so one of oneDNN is asked
// for.
TEST(IsaLimitTest, LimitComesTooLateAfterTheFirstMatMulOfOneDnn) {
  HasPackedKernel(dnnl::engine(dnnl::engine::kind::cpu, 0), {.k = 4, .n = 4});
  if (DetectIsa() == Isa::kBaseline) GTEST_SKIP() << "no lower limit";
  EXPECT_EQ(LimitIsa(Isa::kBaseline).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(LimitIsa(DetectIsa()).ok());
}

}  // namespace
}  // namespace attend
