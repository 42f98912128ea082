#include "engine/ops/attention/rotate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

class RotaryOpTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, RotaryOpTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

std::vector<float> Random(int n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(generator);
  return values;
}

TEST_P(RotaryOpTest, TurnsPairsInPlaceAndNothingElse) {
  constexpr int kPositions = 50;
  for (const auto& [head_dim, dims] :
       std::vector<std::pair<int, int>>{{2, 2},
                                        {6, 6},
                                        {16, 16},
                                        {62, 62},
                                        {64, 64},
                                        {80, 80},
                                        {128, 128},
                                        {7, 4},
                                        {24, 6},
                                        {80, 32},
                                        {96, 72}})
    for (const int heads : {1, 3, 8})
      for (const int rows : {1, 2, 37}) {
        const int half = dims / 2;
        const int stride = heads * head_dim + 5;  // of what comes after them
        const std::vector<float> src = Random(rows * stride, 1);
        const std::vector<float> cos = Random(kPositions * half, 2);
        const std::vector<float> sin = Random(kPositions * half, 3);
        std::vector<int> positions;
        for (int r = 0; r < rows; ++r) {
          positions.push_back(r * 29 % kPositions);
        }
        std::vector<double> expected(src.begin(), src.end());
        for (int r = 0; r < rows; ++r)
          for (int h = 0; h < heads; ++h)
            for (int i = 0; i < half; ++i) {
              const int at = r * stride + h * head_dim + i;
              const double c = cos[positions[r] * half + i];
              const double s = sin[positions[r] * half + i];
              expected[at] = src[at] * c - src[at + half] * s;
              expected[at + half] = src[at + half] * c + src[at] * s;
            }
        std::vector<float> first;
        for (const int threads : {1, 2, 3}) {
          Compute compute({.threads = threads, .max_isa = GetParam()});
          std::vector<float> got = src;
          // Every other row's angles are made where the op has room for them.
          Rotate(compute, {.values = got.data(),
                           .rows = rows,
                           .stride = stride,
                           .heads = heads,
                           .head_dim = head_dim,
                           .dims = dims,
                           .angles = [&](int r, RotaryScratch& scratch) {
                             const int at = positions[r] * half;
                             if (r % 2 == 0) {
                               return RowAngles{&cos[at], &sin[at]};
                             }
                             std::copy_n(&cos[at], half, scratch.cos);
                             std::copy_n(&sin[at], half, scratch.sin);
                             return RowAngles{scratch.cos, scratch.sin};
                           }});
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i], expected[i], 1e-6 * (1 + std::abs(expected[i])))
                << dims << " of " << head_dim << " x " << heads << ", at " << i;
          }
          if (threads == 1) first = got;
          ASSERT_EQ(got, first);
        }
      }
}

}  // namespace
}  // namespace attend
