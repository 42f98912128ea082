#ifndef ATTEND_TESTS_ENGINE_OPS_LOGITS_PROJECTION_FIXTURE_H_
#define ATTEND_TESTS_ENGINE_OPS_LOGITS_PROJECTION_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/stored_rows.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {

// [rows, cols], drawn from a normal distribution.
inline Buffer<float> RandomNumbers(int rows, int cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Buffer<float> values(static_cast<size_t>(rows) * cols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = normal(generator);
  return values;
}

// A projection's weights, and rows for it.
struct ProjectionFixture {
  ProjectionFixture(ComputeType number, int threads, int hidden, int vocab,
                    int most_rows)
      : exec(threads),
        dtype(number),
        k(hidden),
        n(vocab),
        max_rows(most_rows),
        weights(RandomNumbers(n, k, 1)),
        src(RandomNumbers(max_rows, k, 2)),
        bias(RandomNumbers(1, n, 3)),
        operand(dtype, max_rows, k) {}

  Projection Make(float softcap = 0, Range precise = {}) {
    Buffer<float> copy(n);
    std::copy_n(bias.data(), n, copy.data());
    auto projection = Projection::Create(
        exec.primitives, dtype, StoredRows({weights.data(), n, k}),
        std::move(copy), max_rows, softcap, precise);
    EXPECT_TRUE(projection.ok()) << projection.status();
    return *std::move(projection);
  }
  // Valid until the next call.
  Operand Rows(int first, int rows) {
    const Matrix floats = {src.data() + static_cast<size_t>(first) * k, rows,
                           k};
    const Operand made = operand.Of(floats);
    MakeOperand(exec.compute, floats, made);
    return made;
  }

  LogitsBuffer NewBuffer(int rows) {
    return {rows, n, exec.compute.team().size()};
  }

  TestExec exec;
  const ComputeType dtype;
  const int k;
  const int n;
  const int max_rows;
  Buffer<float> weights;
  Buffer<float> src;
  Buffer<float> bias;
  OperandBuffer operand;
};

// A test for each type in which this run of the tests can multiply.
class ProjectionTypesTest : public testing::TestWithParam<ComputeType> {
 protected:
  void SetUp() override {
    const absl::Status status = CheckComputeType(GetParam(), TestIsa());
    if (!status.ok()) GTEST_SKIP() << status;
  }
};

inline const auto kProjectionTypes =
    testing::Values(ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8);
inline std::string NameOfType(const testing::TestParamInfo<ComputeType>& test) {
  return std::string(TypeName(test.param));
}

// What must be found in a row that exists: the folds over it, which
// logits_view_test compares with plain loops.
inline void ExpectFoldsOf(absl::Span<const float> row, const LogitsNeed& need,
                          const LogitsView& view) {
  const LogitsKernels kernels = LogitsKernels::For(TestIsa());
  EXPECT_EQ(view.vocab(), static_cast<int>(row.size()));
  if (need.log_sum_exp) {
    EXPECT_EQ(view.LogSumExp(), LogSumExp(kernels, row));
  }
  std::vector<TokenScore> expected(need.top);
  std::vector<TokenScore> found(need.top);
  Top(kernels, row, absl::MakeSpan(expected));
  view.Top(absl::MakeSpan(found));
  for (int i = 0; i < need.top; ++i) {
    ASSERT_EQ(found[i].id, expected[i].id) << i;
    ASSERT_EQ(std::memcmp(&found[i].score, &row[found[i].id], sizeof(float)), 0)
        << i;
    const float at = view.At(found[i].id);
    ASSERT_EQ(std::memcmp(&at, &row[found[i].id], sizeof(float)), 0) << i;
  }
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_LOGITS_PROJECTION_FIXTURE_H_
