// What a matmul does to its result while the result is in cache, against the
// plain result of the same matmul.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/matmul/matmul_runs.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

// The result of a plain run, put through the row kernels.
std::vector<float> Finish(std::vector<float> rows, int n,
                          const Epilogue& epilogue) {
  const EpilogueKernels& kernels = EpilogueKernelsFor(TestIsa());
  for (size_t at = 0; at < rows.size(); at += n) {
    kernels.apply({.src = &rows[at],
                   .bias = epilogue.bias,
                   .residual = epilogue.residual + at,
                   .dst = &rows[at],
                   .columns = n},
                  epilogue.activation);
    kernels.normalize(&rows[at], *epilogue.norm, 1, n, &rows[at]);
  }
  return rows;
}

TEST(MatMulEpilogueTest, EpilogueIsAppliedToEveryRow) {
  const int k = 40;
  const Values src(200, k, 1);
  for (int n : {30, 150, 256}) {
    const Values weights(n, k, 2);
    const Values residual(200, n, 3);
    const Values vectors(3, n, 4);
    const NormWeights norm = {.gamma = vectors.All().row(0),
                              .beta = vectors.All().row(1)};
    const Epilogue epilogue = {.bias = vectors.All().row(2),
                               .activation = Activation::kGelu,
                               .residual = residual.data.data(),
                               .norm = &norm};
    for (int threads : {1, 2}) {
      TestExec exec(threads);
      const auto matmul = MatMul::Create(exec.primitives, ComputeType::kF32,
                                         StoredRows(weights.All()), 200);
      ASSERT_TRUE(matmul.ok());
      for (int m : {1, 5, 64, 66, 200}) {
        const std::vector<float> expected = Finish(
            Multiply(exec.context(), *matmul, src.First(m)), n, epilogue);
        EXPECT_EQ(Multiply(exec.context(), *matmul, src.First(m), epilogue),
                  expected);
        // The residual may be the destination.
        std::vector<float> dst(residual.data.begin(),
                               residual.data.begin() + m * n);
        Epilogue onto_itself = epilogue;
        onto_itself.residual = dst.data();
        ASSERT_TRUE(RunOn(exec.context(), *matmul, src.First(m), onto_itself,
                          {dst.data(), m, n})
                        .ok());
        // Through scratch the rows come in other tiles, which changes bits
        // below AVX2.
        const float tolerance = TestIsa() >= Isa::kAvx2 ? 0.0f : 1e-4f;
        EXPECT_THAT(dst,
                    testing::Pointwise(testing::FloatNear(tolerance), expected))
            << m << " rows, n = " << n;
      }
    }
  }
}

// Without an activation sums may begin with the bias.
TEST(MatMulEpilogueTest, BiasAndResidualAreAddedInEveryDType) {
  const int k = 300;
  const int rows = 140;
  const Values src(rows, k, 1);
  for (const ComputeType dtype : kAllComputeTypes) {
    if (!Supported(dtype)) continue;
    for (const int n : {30, 150, 256}) {
      const Values weights(n, k, 2);
      const Values residual(rows, n, 3);
      const Values bias(1, n, 4);
      for (const int threads : {1, 2}) {
        TestExec exec(threads);
        const auto matmul = MatMul::Create(exec.primitives, dtype,
                                           StoredRows(weights.All()), rows);
        ASSERT_TRUE(matmul.ok());
        for (const int m : {1, 5, 70, rows}) {
          const std::vector<float> product =
              Multiply(exec.context(), *matmul, src.First(m));
          for (const int added : {1, 2, 3}) {
            SCOPED_TRACE(testing::Message()
                         << TypeName(dtype) << " " << m << " x " << k << " x "
                         << n << ", " << threads << " threads, " << added);
            // The residual is the destination.
            std::vector<float> dst(residual.data.begin(),
                                   residual.data.begin() + m * n);
            Epilogue epilogue;
            if ((added & 1) != 0) epilogue.bias = bias.data.data();
            if ((added & 2) != 0) epilogue.residual = dst.data();
            std::vector<float> expected = product;
            for (int i = 0; i < m * n; ++i) {
              if ((added & 1) != 0) expected[i] += bias.data[i % n];
              if ((added & 2) != 0) expected[i] += residual.data[i];
            }
            ASSERT_TRUE(RunOn(exec.context(), *matmul, src.First(m), epilogue,
                              {dst.data(), m, n})
                            .ok());
            // Of sums of about 20, added in another order.
            EXPECT_THAT(
                dst, testing::Pointwise(testing::FloatNear(1e-4f), expected));
          }
        }
      }
    }
  }
}

// Rows that choose a matrix get their product of low rank before all else.
TEST(MatMulEpilogueTest, LowRankIsAddedFirst) {
  const int k = 75;
  const int rows = 130;
  const int rank = 3;
  const Values src(rows, k, 1);
  const Values left(rows, 2 * rank, 5);
  std::vector<int> choices(rows);
  // First all differ, then several are the same.
  for (int r = 0; r < rows; ++r) choices[r] = (r < 30 ? r : r / 9) % 3 - 1;
  for (const ComputeType dtype : kAllComputeTypes) {
    if (!Supported(dtype)) continue;
    for (const int n : {30, 150, 256}) {
      const Values weights(n, k, 2);
      const Values bias(1, n, 4);
      const Values right(2 * rank, n, 6);
      for (const int threads : {1, 2}) {
        TestExec exec(threads);
        const auto matmul = MatMul::Create(exec.primitives, dtype,
                                           StoredRows(weights.All()), rows);
        ASSERT_TRUE(matmul.ok());
        for (const int m : {1, 5, 70, rows}) {
          SCOPED_TRACE(testing::Message() << TypeName(dtype) << " " << m << ", "
                                          << n << ", " << threads);
          const LowRank low_rank = {
              .choices = absl::MakeSpan(choices).subspan(0, m),
              .rank = rank,
              .left = left.First(m),
              .right = right.data.data()};
          std::vector<float> expected =
              Multiply(exec.context(), *matmul, src.First(m));
          for (int i = 0; i < m * n; ++i) {
            const int r = i / n;
            for (int j = 0; choices[r] >= 0 && j < rank; ++j) {
              const int at = choices[r] * rank + j;
              expected[i] +=
                  left.data[r * 2 * rank + at] * right.data[at * n + i % n];
            }
            expected[i] = std::max(expected[i] + bias.data[i % n], 0.0f);
          }
          EXPECT_THAT(Multiply(exec.context(), *matmul, src.First(m),
                               {.low_rank = &low_rank,
                                .bias = bias.data.data(),
                                .activation = Activation::kRelu}),
                      testing::Pointwise(testing::FloatNear(1e-4f), expected));
        }
      }
    }
  }
}

// The operand that an epilogue writes is the one that MakeOperand() would make
// of its result, whether or not the result itself is wanted.
void ExpectNextOperand(ComputeType dtype, int threads, int n,
                       Activation activation) {
  const int k = 48;
  const Values weights(n, k, 1);
  const Values bias(1, n, 3);
  const Values src(130, k, 2);
  TestExec exec(threads);
  const auto matmul =
      MatMul::Create(exec.primitives, dtype, StoredRows(weights.All()), 130);
  ASSERT_TRUE(matmul.ok());
  for (int m : {1, 30, 64, 130}) {
    for (bool only : {false, true}) {
      SCOPED_TRACE(testing::Message() << TypeName(dtype) << " " << threads
                                      << " " << n << " " << m);
      Epilogue epilogue = {.bias = bias.data.data(), .activation = activation};
      std::vector<float> expected =
          Multiply(exec.context(), *matmul, src.First(m), epilogue);
      const OwnedOperand twin(exec.compute, dtype, {expected.data(), m, n});
      std::vector<float> dst(static_cast<size_t>(m) * n);
      OperandBuffer buffer(dtype, m, n);
      epilogue.operand = buffer.Of({dst.data(), m, n});
      epilogue.operand_only = only;
      ASSERT_TRUE(RunOn(exec.context(), *matmul, src.First(m), epilogue,
                        {dst.data(), m, n})
                      .ok());
      ASSERT_EQ(std::memcmp(epilogue.operand.data, twin.view.data,
                            m * OperandBytes(dtype, n)),
                0);
      if (!only) {
        ASSERT_EQ(dst, expected);
      }
    }
  }
}

// Members' slices are whole groups of int8, or not.
TEST(MatMulEpilogueTest, EpilogueWritesTheNextOperand) {
  for (const ComputeType dtype : kAllComputeTypes) {
    if (!Supported(dtype)) continue;
    for (const int threads : {1, 2}) {
      for (const int n : {150, 512}) {
        ExpectNextOperand(dtype, threads, n, Activation::kNone);
        ExpectNextOperand(dtype, threads, n, Activation::kRelu);
      }
    }
  }
}

}  // namespace
}  // namespace attend
