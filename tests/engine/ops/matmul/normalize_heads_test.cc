#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/ops/matmul/epilogue.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

std::vector<float> Random(int n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.5f, 2.0f);
  std::vector<float> values(n);
  for (float& v : values) v = normal(generator);
  return values;
}

class NormalizeHeadsTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, NormalizeHeadsTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

// What belongs to no head stays.
TEST_P(NormalizeHeadsTest, HeadsAreNormalizedEachByItself) {
  for (const int head_dim : {5, 16, 64, 80})
    for (const int rows : {0, 1, 37}) {
      const int heads = 3;
      const int stride = heads * head_dim + 7;
      const std::vector<float> src = Random(rows * stride, 12);
      const std::vector<float> gamma = Random(head_dim, 13);
      const NormWeights norm = {gamma.data(), nullptr, 1e-6f, /*rms=*/true};
      std::vector<double> expected(src.begin(), src.end());
      for (int r = 0; r < rows; ++r)
        for (int h = 0; h < heads; ++h) {
          double* const head = &expected[r * stride + h * head_dim];
          double squares = 0;
          for (int d = 0; d < head_dim; ++d) squares += head[d] * head[d];
          const double scale = 1 / std::sqrt(squares / head_dim + 1e-6f);
          for (int d = 0; d < head_dim; ++d) head[d] *= scale * gamma[d];
        }
      std::vector<float> first;
      for (const int threads : {1, 2, 3}) {
        Compute compute({.threads = threads, .max_isa = GetParam()});
        std::vector<float> got = src;
        NormalizeHeads(compute, {got.data(), stride, rows, heads, head_dim},
                       norm);
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_NEAR(got[i], expected[i], 2e-6 * (1 + std::abs(expected[i])))
              << head_dim << ", at " << i;
        }
        if (threads == 1) first = got;
        ASSERT_EQ(got, first);
      }
    }
}

// The bits of a row in company are those of the row alone.
TEST_P(NormalizeHeadsTest, HeadsOfARowDoNotDependOnOthers) {
  const int stride = 4 * 48;
  const std::vector<float> src = Random(50 * stride, 12);
  const std::vector<float> gamma = Random(48, 13);
  const NormWeights norm = {gamma.data(), nullptr, 1e-6f, /*rms=*/true};
  Compute compute({.threads = 2, .max_isa = GetParam()});
  std::vector<float> together = src;
  NormalizeHeads(compute, {together.data(), stride, 50, 4, 48}, norm);
  std::vector<float> alone = src;
  for (int r = 0; r < 50; ++r) {
    NormalizeHeads(compute, {&alone[r * stride], stride, 1, 4, 48}, norm);
  }
  EXPECT_EQ(together, alone);
}

TEST_P(NormalizeHeadsTest, EachHeadMayHaveWeightsOfItsOwn) {
  constexpr int kHeads = 3, kHeadDim = 21, kStride = kHeads * kHeadDim + 2;
  const std::vector<float> src = Random(5 * kStride, 12);
  const std::vector<float> gamma = Random(kHeads * kHeadDim, 13);
  const std::vector<float> beta = Random(kHeads * kHeadDim, 14);
  Compute compute({.threads = 2, .max_isa = GetParam()});
  std::vector<float> together = src;
  NormalizeHeads(compute, {together.data(), kStride, 5, kHeads, kHeadDim},
                 {gamma.data(), beta.data(), 1e-6f}, /*by_head=*/true);
  std::vector<float> alone = src;
  for (int h = 0; h < kHeads; ++h) {
    const int at = h * kHeadDim;
    NormalizeHeads(compute, {&alone[at], kStride, 5, 1, kHeadDim},
                   {&gamma[at], &beta[at], 1e-6f});
  }
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace attend
