// Where weights lie, and who computes what, changes no bit.
#include "tests/engine/compute/two_nodes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"

namespace attend {
namespace {

// Weights of several pages, of which members have unequal shares.
constexpr int kIn = 200;
constexpr int kOut = 64 * 9 + 5;
constexpr int kRows = 3;

std::vector<float> Normal(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(generator);
  return numbers;
}

// The products and the logits of a few rows.
std::vector<float> Computed(ComputeType dtype, NumaNodes nodes) {
  TestExec exec(4, std::move(nodes));
  std::vector<float> weights = Normal(size_t{kIn} * kOut, 1);
  std::vector<float> floats = Normal(size_t{kIn} * kRows, 2);
  const StoredRows matrix(ConstMatrix{weights.data(), kOut, kIn});
  auto matmul = MatMul::Create(exec.primitives, dtype, matrix, kRows);
  auto projection = Projection::Create(exec.primitives, dtype, matrix,
                                       Buffer<float>(kOut), kRows);
  EXPECT_TRUE(matmul.ok()) << matmul.status();
  EXPECT_TRUE(projection.ok()) << projection.status();
  OperandBuffer buffer(dtype, kRows, kIn);
  const Matrix src = {floats.data(), kRows, kIn};
  const Operand operand = buffer.Of(src);
  MakeOperand(exec.compute, src, operand);

  std::vector<float> results(size_t{kRows} * kOut);
  EXPECT_TRUE(
      matmul->Run(exec.context(), operand, {}, {results.data(), kRows, kOut})
          .ok());
  LogitsBuffer logits(kRows, kOut, exec.compute.team().size());
  const std::vector<LogitsNeed> needs(kRows, LogitsNeed{.row = true});
  EXPECT_TRUE(projection->Run(exec.context(), operand, needs, logits).ok());
  for (int row = 0; row < kRows; ++row) {
    const absl::Span<const float> all = logits.row(row);
    results.insert(results.end(), all.begin(), all.end());
  }
  return results;
}

TEST(TwoNodesTest, ResultsAreThoseOfOneNode) {
  for (const ComputeType dtype :
       {ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8,
        ComputeType::kW8, ComputeType::kInt4}) {
    if (!CheckComputeType(dtype, TestIsa()).ok()) continue;
    EXPECT_EQ(Computed(dtype, NumaNodes(TwoNodes())),
              Computed(dtype, NumaNodes()))
        << TypeName(dtype);
  }
}

}  // namespace
}  // namespace attend
