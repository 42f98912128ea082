// Attention over fours of int8, against the formula over rounded keys and
// values, and by tiles against by vectors.

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/mask.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

class AttentionFoursTest : public AttentionIsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, AttentionFoursTest,
                         ::testing::Values(Isa::kAvx512Vnni, Isa::kAmx),
                         NameOfIsa);

Cache FoursOf(Compute& compute, const AttentionInputs& in) {
  Cache cache(compute, in, {FirstTokens(in.shape.keys)}, KvType::kInt8);
  EXPECT_EQ(cache.layout().together, 4);
  return cache;
}

// Rows as they are split in pieces of `rows`, which see what causal rows do.
std::vector<float> AttendInPieces(Compute& compute, const AttentionInputs& in,
                                  const Cache& cache, int rows, int window) {
  std::vector<AttentionPiece> pieces;
  const int before = in.shape.keys - in.shape.queries;
  for (int row = 0; row < in.shape.queries; row += rows) {
    pieces.push_back({.first_row = row,
                      .rows = std::min(rows, in.shape.queries - row),
                      .blocks = cache.blocks(0),
                      .keys = before + row + 1,
                      .causal = true,
                      .position = before + row});
  }
  return Attend(compute, in, cache, pieces, DistanceBias{}, window);
}

TEST_P(AttentionFoursTest, EqualsTheNaiveForm) {
  const auto compute = MakeCompute();
  for (const AttentionShape shape :
       std::vector<AttentionShape>{{1, 1, 4, 1, 1},
                                   {2, 2, 20, 3, 7},
                                   {8, 8, 32, 1, 40},
                                   {9, 3, 64, 1, 513},
                                   {4, 2, 64, 33, 80},
                                   {1, 1, 100, 13, 65},
                                   {2, 1, 192, 47, 140},
                                   {1, 1, 256, 300, 1100}}) {
    SCOPED_TRACE(testing::Message()
                 << shape.queries << " queries, " << shape.keys << " keys of "
                 << shape.head_dim);
    const AttentionInputs in(shape, 1);
    const Cache cache = FoursOf(*compute, in);
    const AttentionInputs rounded = Rounded(in, KvType::kInt8);
    ExpectNear(Attend(*compute, in, cache,
                      {{0, shape.queries, cache.blocks(0), shape.keys, false}}),
               NaiveAttention(rounded, PaddingMask({shape.keys}, shape.queries,
                                                   shape.keys)),
               AttentionTolerance(rounded));
  }
}

// Whole numbers have one sum, whatever is computed together and by what.
TEST_P(AttentionFoursTest, BitsDependOnTheRowOnly) {
  const auto compute = MakeCompute();
  Compute vectors({.threads = 1, .max_isa = Isa::kAvx512Vnni});
  // Queries that see few keys have a kernel of their own.
  for (const AttentionShape shape :
       std::vector<AttentionShape>{{4, 2, 36, 290, 700},
                                   {4, 2, 64, 290, 700},
                                   {4, 2, 128, 290, 700},
                                   {8, 8, 36, 90, 90},
                                   {4, 2, 64, 90, 90}}) {
    const AttentionInputs in(shape, 1);
    const Cache cache = FoursOf(*compute, in);
    for (const int window : {0, 20, 100}) {
      const auto one_by_one = AttendInPieces(vectors, in, cache, 1, window);
      for (const int rows : {2, 5, 23, 40, shape.queries}) {
        const auto got = AttendInPieces(*compute, in, cache, rows, window);
        ASSERT_EQ(std::memcmp(got.data(), one_by_one.data(),
                              got.size() * sizeof(float)),
                  0)
            << shape.keys << " keys of " << shape.head_dim
            << " numbers, pieces of " << rows << ", window " << window;
      }
    }
  }
}

}  // namespace
}  // namespace attend
