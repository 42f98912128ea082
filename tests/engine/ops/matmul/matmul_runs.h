#ifndef ATTEND_TESTS_ENGINE_OPS_MATMUL_MATMUL_RUNS_H_
#define ATTEND_TESTS_ENGINE_OPS_MATMUL_MATMUL_RUNS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/matrix.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {

// Whether this run of the tests can multiply in `dtype`.
inline bool Supported(ComputeType dtype) {
  return CheckComputeType(dtype, TestIsa()).ok();
}

// A matrix that owns its values, drawn from a normal distribution.
struct Values {
  Values(int r, int c, unsigned seed) : rows(r), cols(c), data(r * c) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (float& v : data) v = normal(generator);
  }
  ConstMatrix First(int n) const { return {data.data(), n, cols}; }
  ConstMatrix All() const { return First(rows); }

  int rows;
  int cols;
  std::vector<float> data;
};

// Rows as the operand of a matmul.
struct OwnedOperand {
  OwnedOperand(Compute& compute, ComputeType dtype, ConstMatrix src)
      : floats(src.data, src.data + static_cast<size_t>(src.rows) * src.cols),
        buffer(dtype, src.rows, src.cols),
        view(buffer.Of({floats.data(), src.rows, src.cols})) {
    MakeOperand(compute, src, view);
  }

  std::vector<float> floats;
  OperandBuffer buffer;
  Operand view;
};

// dst = epilogue(src * W^T) for the operand that `src` is to `matmul`.
inline absl::Status RunOn(ExecContext& context, const MatMul& matmul,
                          ConstMatrix src, const Epilogue& epilogue,
                          Matrix dst) {
  const OwnedOperand operand(context.compute(), matmul.dtype(), src);
  return matmul.Run(context, operand.view, epilogue, dst);
}

// The result [rows, out] for `src`. Nothing is written behind it.
inline std::vector<float> Multiply(ExecContext& context, const MatMul& matmul,
                                   ConstMatrix src,
                                   const Epilogue& epilogue = {}) {
  // A guard behind the last row.
  std::vector<float> dst(static_cast<size_t>(src.rows) * matmul.out() + 1, 7);
  const absl::Status status = RunOn(context, matmul, src, epilogue,
                                    {dst.data(), src.rows, matmul.out()});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(dst.back(), 7.0f);
  dst.pop_back();
  return dst;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_MATMUL_MATMUL_RUNS_H_
