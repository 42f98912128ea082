#ifndef ATTEND_TESTS_ENGINE_OPS_MATMUL_GUARDED_MULTIPLY_H_
#define ATTEND_TESTS_ENGINE_OPS_MATMUL_GUARDED_MULTIPLY_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "engine/ops/matmul/multiply_kernel.h"

namespace attend {

// The product [rows, n] of `args`, which has no dst. Nothing is written behind
// it.
inline std::vector<float> GuardedMultiply(MultiplyKernel kernel,
                                          MultiplyArgs args) {
  std::vector<float> dst(static_cast<size_t>(args.rows) * args.n + 1, 7);
  args.dst = dst.data();
  kernel(args);
  EXPECT_EQ(dst.back(), 7);
  dst.pop_back();
  return dst;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_MATMUL_GUARDED_MULTIPLY_H_
