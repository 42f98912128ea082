#include "engine/ops/attention/attention_weights.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

// The paper's softmax for one query, the mean over its heads, in doubles.
std::vector<double> NaiveWeights(const AttentionInputs& in, int query,
                                 double softcap) {
  const AttentionShape& s = in.shape;
  std::vector<double> mean(s.keys);
  for (int head = 0; head < s.heads; ++head) {
    const float* const q =
        &in.query[query * in.query_cols() + head * s.head_dim];
    const int kv_head = head / (s.heads / s.kv_heads);
    std::vector<double> weights(s.keys);
    double sum = 0;
    for (int key = 0; key < s.keys; ++key) {
      const float* const k = &in.key[key * in.kv_cols() + kv_head * s.head_dim];
      double score = 0;
      for (int d = 0; d < s.head_dim; ++d) score += double{q[d]} * k[d];
      score *= in.scale();
      if (softcap > 0) score = softcap * std::tanh(score / softcap);
      sum += weights[key] = std::exp(score);
    }
    for (int key = 0; key < s.keys; ++key) {
      mean[key] += weights[key] / sum / s.heads;
    }
  }
  return mean;
}

// All rows' weights; row i of the queries is row 3 + i of the step.
std::vector<float> Weigh(Compute& compute, const AttentionInputs& in,
                         const Cache& cache, const AttentionRules& rules) {
  const AttentionShape& s = in.shape;
  std::vector<float> weights(s.queries * s.keys, -1);
  std::vector<WeighedRow> rows;
  for (int row = 0; row < s.queries; ++row) {
    rows.push_back({.row = 3 + row,
                    .blocks = cache.blocks(0),
                    .keys = s.keys,
                    .weights = &weights[row * s.keys]});
  }
  AttentionWeights(compute, {.rules = &rules,
                             .layout = &cache.layout(),
                             .layer = 1,
                             .heads = s.heads,
                             .query = in.query.data(),
                             .query_stride = in.query_cols(),
                             .first_row = 3,
                             .rows = rows});
  return weights;
}

void ExpectWeights(Compute& compute, const AttentionShape& shape, KvType dtype,
                   bool together, float softcap) {
  SCOPED_TRACE(testing::Message() << TypeName(dtype) << ", " << shape.keys
                                  << " keys, together " << together);
  const AttentionInputs in(shape, 1);
  const Cache cache(compute, in, {FirstTokens(shape.keys)}, dtype, together);
  const AttentionRules rules = {.scale = in.scale(), .softcap = softcap};
  const std::vector<float> got = Weigh(compute, in, cache, rules);
  const AttentionInputs rounded = Rounded(in, dtype);
  for (int row = 0; row < shape.queries; ++row) {
    const std::vector<double> expected = NaiveWeights(rounded, row, softcap);
    for (int key = 0; key < shape.keys; ++key) {
      EXPECT_NEAR(got[row * shape.keys + key], expected[key], 1e-6);
    }
  }
}

TEST(AttentionWeightsTest, EqualTheNaiveFormInAllTypes) {
  Compute compute({.threads = 2});
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 1}, AttentionShape{4, 2, 5, 3, 7},
        AttentionShape{3, 3, 16, 5, 65}, AttentionShape{8, 8, 64, 2, 600}}) {
    for (const KvType dtype : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
      ExpectWeights(compute, shape, dtype, /*together=*/false, 0);
    }
  }
}

class TogetherTest : public ::testing::TestWithParam<KvType> {};
INSTANTIATE_TEST_SUITE_P(Types, TogetherTest,
                         ::testing::Values(KvType::kBf16, KvType::kInt8));

TEST_P(TogetherTest, WeightsEqualTheNaiveForm) {
  Compute compute({.threads = 1});
  if (MostTogether(compute.isa(), {.head_dim = 16, .dtype = GetParam()}) == 1) {
    GTEST_SKIP() << "not on this machine";
  }
  ExpectWeights(compute, {3, 3, 16, 5, 65}, GetParam(), /*together=*/true, 0);
}

TEST(AttentionWeightsTest, EqualTheNaiveFormWithACap) {
  Compute compute({.threads = 1});
  ExpectWeights(compute, {4, 2, 5, 3, 40}, KvType::kF32, /*together=*/false,
                0.5);
}

}  // namespace
}  // namespace attend
