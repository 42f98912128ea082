// A matmul with a gated epilogue against the definition, computed from the
// same matmul's plain result.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr int kMostRows = 150;

std::vector<float> Random(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(generator);
  return values;
}

double Naive(Activation activation, double x) {
  return activation == Activation::kRelu   ? std::max(x, 0.0)
         : activation == Activation::kSilu ? x / (1 + std::exp(-x))
                                           : 0.5 * x * std::erfc(-x / M_SQRT2);
}

struct Shape {
  int k;
  int width;
  bool bias;
  Activation activation;
};

class GatedTest
    : public testing::TestWithParam<std::tuple<ComputeType, Shape>> {
 protected:
  void SetUp() override {
    if (!CheckComputeType(dtype_, TestIsa()).ok())
      GTEST_SKIP() << "no such dtype";
  }

  // What Run() writes for `rows` rows of the source from `first` on.
  std::vector<float> Run(ExecContext& context, const MatMul& matmul, int first,
                         int rows, Epilogue epilogue = {}) const {
    std::vector<float> src(src_.begin() + first * shape_.k,
                           src_.begin() + (first + rows) * shape_.k);
    OperandBuffer buffer(dtype_, rows, shape_.k);
    const Matrix floats = {src.data(), rows, shape_.k};
    const Operand operand = buffer.Of(floats);
    MakeOperand(context.compute(), floats, operand);
    const int width = matmul.out() / (epilogue.gated ? 2 : 1);
    // A guard behind the last row.
    std::vector<float> dst(rows * width + 1, 7.0f);
    const absl::Status status =
        matmul.Run(context, operand, epilogue, {dst.data(), rows, width});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(dst.back(), 7.0f);
    dst.pop_back();
    return dst;
  }

  MatMul NewMatMul(Primitives& primitives) const {
    return MatMul::Create(
               primitives, dtype_,
               StoredRows({weights_.data(), 2 * shape_.width, shape_.k}),
               kMostRows)
        .value();
  }

  Epilogue Gated() const {
    return {.bias = shape_.bias ? bias_.data() : nullptr,
            .activation = shape_.activation,
            .gated = true};
  }

  const ComputeType dtype_ = std::get<0>(GetParam());
  const Shape shape_ = std::get<1>(GetParam());
  const std::vector<float> src_ = Random(kMostRows * shape_.k, 1);
  const std::vector<float> weights_ = Random(2 * shape_.width * shape_.k, 2);
  const std::vector<float> bias_ = Random(2 * shape_.width, 3);
};

TEST_P(GatedTest, EqualsTheDefinition) {
  const int width = shape_.width;
  for (int threads : {1, 2, 3}) {
    TestExec exec(threads);
    const MatMul matmul = NewMatMul(exec.primitives);
    for (int rows : {1, 2, 5, 63, 64, 70, 100, kMostRows}) {
      const std::vector<float> plain = Run(exec.context(), matmul, 0, rows);
      const std::vector<float> got =
          Run(exec.context(), matmul, 0, rows, Gated());
      for (int i = 0; i < rows * width; ++i) {
        const int c = i % width;
        const float* const row = &plain[i / width * 2 * width];
        const double gate = row[c] + (shape_.bias ? bias_[c] : 0.0);
        const double value =
            row[width + c] + (shape_.bias ? bias_[width + c] : 0.0);
        ASSERT_NEAR(got[i], Naive(shape_.activation, gate) * value,
                    2e-6 * (1 + std::abs(gate)) * (1 + std::abs(value)))
            << rows << " rows, " << threads << " threads, at " << i;
      }
    }
  }
}

TEST_P(GatedTest, BitsDoNotDependOnRowsOrTeam) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "not promised below AVX2";
  std::vector<float> alone;
  for (int threads : {1, 2, 3}) {
    TestExec exec(threads);
    const MatMul matmul = NewMatMul(exec.primitives);
    for (int row = 0; threads == 1 && row < kMostRows; ++row) {
      const std::vector<float> one =
          Run(exec.context(), matmul, row, 1, Gated());
      alone.insert(alone.end(), one.begin(), one.end());
    }
    for (int rows = 1; rows <= kMostRows; rows += 7) {
      const std::vector<float> got =
          Run(exec.context(), matmul, 0, rows, Gated());
      ASSERT_EQ(std::memcmp(got.data(), alone.data(), got.size() * 4), 0)
          << rows << " rows, " << threads << " threads";
    }
  }
}

TEST_P(GatedTest, WritesTheNextOperand) {
  if (dtype_ == ComputeType::kF32)
    GTEST_SKIP() << "floats are their own operand";
  const int width = shape_.width;
  for (int threads : {1, 2}) {
    TestExec exec(threads);
    const MatMul matmul = NewMatMul(exec.primitives);
    for (int rows : {1, 5, 64, kMostRows}) {
      Epilogue epilogue = Gated();
      std::vector<float> expected =
          Run(exec.context(), matmul, 0, rows, epilogue);
      const Matrix floats = {expected.data(), rows, width};
      OperandBuffer twin(dtype_, rows, width);
      MakeOperand(exec.compute, floats, twin.Of(floats));
      std::vector<float> dst(rows * width);
      OperandBuffer buffer(dtype_, rows, width);
      epilogue.operand = buffer.Of({dst.data(), rows, width});
      epilogue.operand_only = true;
      Run(exec.context(), matmul, 0, rows, epilogue);
      ASSERT_EQ(std::memcmp(epilogue.operand.data, twin.Of(floats).data,
                            rows * OperandBytes(dtype_, width)),
                0)
          << rows << " rows, " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GatedTest,
    testing::Combine(testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                     ComputeType::kInt8),
                     testing::Values(Shape{1, 1, false, Activation::kSilu},
                                     Shape{7, 33, true, Activation::kSilu},
                                     Shape{24, 64, false, Activation::kGelu},
                                     Shape{40, 101, true, Activation::kRelu},
                                     Shape{130, 150, true, Activation::kGelu},
                                     Shape{64, 256, false, Activation::kSilu})),
    [](const auto& test) {
      const Shape& shape = std::get<1>(test.param);
      return std::string(TypeName(std::get<0>(test.param))) + "_" +
             std::to_string(shape.k) + "x" + std::to_string(shape.width);
    });

}  // namespace
}  // namespace attend
