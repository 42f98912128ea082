#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/ops/matmul/epilogue.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

class SpreadHeadsTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, SpreadHeadsTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

// What belongs to no head stays, as do heads without blocks.
TEST_P(SpreadHeadsTest, HeadsAreSpreadEachByItself) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (const int head_dim : {5, 16, 64, 80, 128}) {
    for (const int rows : {0, 1, 37}) {
      const int heads = 3;
      const int stride = heads * head_dim + 7;
      std::vector<float> src(rows * stride);
      for (float& value : src) value = normal(generator);
      std::vector<float> expected = src;
      for (int r = 0; r < rows; ++r) {
        for (int h = 0; h < heads; ++h) {
          float* const head = &expected[r * stride + h * head_dim];
          std::ranges::copy(SpreadNaively(head, head_dim), head);
        }
      }
      for (const int threads : {1, 2}) {
        Compute compute({.threads = threads, .max_isa = GetParam()});
        std::vector<float> found = src;
        SpreadHeads(compute, {.values = found.data(),
                              .stride = stride,
                              .rows = rows,
                              .heads = heads,
                              .head_dim = head_dim});
        ASSERT_EQ(found, expected) << head_dim << ", " << rows << " rows";
      }
    }
  }
}

}  // namespace
}  // namespace attend
