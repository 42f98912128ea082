// Low-rank adapters of rows, against sums of products.

#include "engine/layers/adapters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "engine/layers/linear.h"
#include "engine/layers/table_adapters.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"

namespace attend {
namespace {

// Neither is a multiple of a vector, a group or a block.
constexpr int kIn = 75;
constexpr int kOut = 133;
constexpr int kCount = 3;
constexpr int kRank = 5;
constexpr int kRows = 83;

using Floats = std::vector<float>;

Floats Random(int count, unsigned seed, float scale) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, scale);
  Floats values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

Buffer<float> BufferOf(const Floats& values) {
  Buffer<float> buffer(values.size());
  std::copy(values.begin(), values.end(), buffer.data());
  return buffer;
}

class AdaptersTest : public testing::TestWithParam<ComputeType> {
 protected:
  void SetUp() override {
    if (!CheckComputeType(GetParam(), TestIsa()).ok()) GTEST_SKIP();
    exec_.emplace(2);
    auto linear =
        Linear::Create(exec_->primitives, GetParam(),
                       StoredRows(ConstMatrix(weights_.data(), kOut, kIn)),
                       BufferOf(bias_), kRows);
    auto adapters = Adapters::Create(
        exec_->primitives, GetParam(),
        StoredRows(ConstMatrix(down_.data(), kCount * kRank, kIn)),
        BufferOf(up_), kRank, kRows);
    ASSERT_TRUE(linear.ok() && adapters.ok());
    EXPECT_EQ(adapters->width(), kCount * kRank);
    linear->SetAdapters(*std::move(adapters));
    linear_.emplace(*std::move(linear));
  }

  // The results [rows, kOut] of rows [first, first + choices.size()).
  Floats Run(int first, const std::vector<int>& choices,
             Epilogue epilogue = {}) {
    const int rows = static_cast<int>(choices.size());
    Floats src(src_.begin() + first * kIn, src_.begin() + (first + rows) * kIn);
    Floats dst(rows * kOut);
    Floats products(rows * kCount * kRank);
    const Matrix floats = {src.data(), rows, kIn};
    OperandBuffer buffer(GetParam(), rows, kIn);
    const Operand operand = buffer.Of(floats);
    MakeOperand(exec_->compute, floats, operand);
    const bool any = std::any_of(choices.begin(), choices.end(),
                                 [](int choice) { return choice >= 0; });
    AdaptedRows adapted;
    if (any) adapted.choices = choices;
    adapted.products = {products.data(), rows, kCount * kRank};
    EXPECT_TRUE(linear_
                    ->Run(exec_->context(), operand, {dst.data(), rows, kOut},
                          epilogue, adapted)
                    .ok());
    return dst;
  }

  double Naive(int row, int column, int choice) const {
    const float* const x = &src_[row * kIn];
    double sum = bias_[column];
    for (int k = 0; k < kIn; ++k) sum += x[k] * weights_[column * kIn + k];
    for (int i = 0; choice >= 0 && i < kRank; ++i) {
      double product = 0;
      for (int k = 0; k < kIn; ++k) {
        product += x[k] * down_[(choice * kRank + i) * kIn + k];
      }
      sum += product * up_[(choice * kRank + i) * kOut + column];
    }
    return sum;
  }

  const Floats src_ = Random(kRows * kIn, 1, 1);
  const Floats weights_ = Random(kOut * kIn, 2, 1 / std::sqrt(float{kIn}));
  const Floats bias_ = Random(kOut, 3, 1);
  const Floats down_ =
      Random(kCount * kRank * kIn, 4, 1 / std::sqrt(float{kIn}));
  const Floats up_ = Random(kCount * kRank * kOut, 5, 1);
  std::optional<TestExec> exec_;
  std::optional<Linear> linear_;
};

std::vector<int> Mixed(int rows) {
  std::vector<int> choices(rows);
  // First all differ, then several are the same.
  for (int r = 0; r < rows; ++r) {
    choices[r] = (r < 30 ? r : r / 9) % (kCount + 1) - 1;
  }
  return choices;
}

TEST_P(AdaptersTest, EachRowGetsWhatItsAdapterAdds) {
  for (const int rows : {1, 7, kRows}) {
    const std::vector<int> choices = Mixed(rows);
    const Floats found = Run(0, choices);
    double error = 0;
    double squares = 0;
    for (int r = 0; r < rows; ++r) {
      for (int j = 0; j < kOut; ++j) {
        const double expected = Naive(r, j, choices[r]);
        error += std::pow(found[r * kOut + j] - expected, 2);
        squares += expected * expected;
      }
    }
    const double bound = GetParam() == ComputeType::kF32    ? 1e-6
                         : GetParam() == ComputeType::kInt4 ? 0.1
                                                            : 0.015;
    EXPECT_LT(std::sqrt(error / squares), bound) << rows;
  }
}

// Matmuls of oneDNN, which are below AVX-512, promise no bits.
TEST_P(AdaptersTest, ARowHasTheSameBitsAloneAndBesideOtherAdapters) {
  if (TestIsa() < Isa::kAvx512) GTEST_SKIP();
  const std::vector<int> choices = Mixed(kRows);
  const Floats all = Run(0, choices);
  const Floats none = Run(0, std::vector<int>(kRows, -1));
  for (int r = 0; r < kRows; ++r) {
    const Floats row(all.begin() + r * kOut, all.begin() + (r + 1) * kOut);
    EXPECT_EQ(Run(r, {choices[r]}), row) << r;
    const Floats bare(none.begin() + r * kOut, none.begin() + (r + 1) * kOut);
    EXPECT_EQ(bare == row, choices[r] < 0) << r;
  }
}

// The activation comes after what adapters add, and the residual after both.
TEST_P(AdaptersTest, TheEpilogueFollows) {
  Floats residual = Random(kRows * kOut, 6, 1);
  const std::vector<int> choices = Mixed(kRows);
  const Floats plain = Run(0, choices);
  const Floats found =
      Run(0, choices,
          {.activation = Activation::kRelu, .residual = residual.data()});
  for (int i = 0; i < kRows * kOut; ++i) {
    EXPECT_NEAR(found[i], std::max(plain[i], 0.0f) + residual[i], 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AdaptersTest,
                         testing::ValuesIn(kAllComputeTypes),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

TEST(TableAdaptersTest, AnEntryGetsWhatItsAdapterAdds) {
  constexpr int kEntries = 4;
  constexpr int kWidth = 6;
  const Floats left = Random(2 * kEntries * 3, 1, 1);
  const Floats right = Random(2 * 3 * kWidth, 2, 1);
  const TableAdapters adapters(BufferOf(left), BufferOf(right), kEntries, 3);
  for (const int choice : {-1, 0, 1}) {
    Floats row(kWidth, 2);
    adapters.AddTo(choice, 3, {row.data(), 1, kWidth});
    for (int j = 0; j < kWidth; ++j) {
      double expected = 2;
      for (int i = 0; choice >= 0 && i < 3; ++i) {
        expected += left[(choice * kEntries + 3) * 3 + i] *
                    right[(choice * 3 + i) * kWidth + j];
      }
      EXPECT_NEAR(row[j], expected, 1e-6);
    }
  }
  Floats same(kWidth, 2);
  TableAdapters().AddTo(1, 3, {same.data(), 1, kWidth});
  EXPECT_EQ(same, Floats(kWidth, 2));
}

}  // namespace
}  // namespace attend
