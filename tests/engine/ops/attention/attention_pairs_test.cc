// Attention over pairs of bf16, against the formula over rounded numbers.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/mask.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr int kChunk = 512;  // keys that are computed at once

AttentionInputs RoundedToPairs(const AttentionInputs& in) {
  AttentionInputs queries = in;
  queries.key = in.query;
  AttentionInputs rounded = Rounded(in, KvType::kBf16);
  rounded.query = Rounded(queries, KvType::kBf16).key;
  return rounded;
}

// Besides f32's rounding, of the rounded numbers: a weight may be off by half a
// step of bf16, and by the error of the exponential, as may their sum.
double PairsTolerance(const AttentionInputs& rounded) {
  double value = 0;
  for (float x : rounded.value) value = std::max(value, double(std::abs(x)));
  return AttentionTolerance(rounded) + (0x1p-9 + 2 * 3e-6) * value;
}

class AttentionPairsTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (DetectIsa() < GetParam()) GTEST_SKIP() << "not on this machine";
  }

  static std::unique_ptr<Compute> MakeCompute(int threads = 1) {
    return std::make_unique<Compute>(
        ComputeOptions{.threads = threads, .max_isa = GetParam()});
  }

  // Tiles take heads of certain widths only.
  static int HeadDim(int head_dim) {
    constexpr int kTiled = avx512::kTiledDim;
    if (GetParam() < Isa::kAmx) return head_dim;
    return (head_dim + kTiled - 1) / kTiled * kTiled;
  }

  static Cache MakeCache(Compute& compute, const AttentionInputs& in,
                         int batch = 1) {
    const std::vector<int> tokens = FirstTokens(in.shape.keys);
    return Cache(compute, in, std::vector(batch, tokens), KvType::kBf16,
                 /*together=*/true);
  }

  static void ExpectAttention(Compute& compute, const AttentionShape& shape) {
    SCOPED_TRACE(testing::Message()
                 << shape.heads << " heads, " << shape.queries << " queries, "
                 << shape.keys << " keys of " << shape.head_dim);
    const AttentionInputs in(shape, 1);
    const Cache cache = MakeCache(compute, in);
    const AttentionInputs rounded = RoundedToPairs(in);
    const AttentionMask mask =
        PaddingMask({shape.keys}, shape.queries, shape.keys);
    ExpectNear(Attend(compute, in, cache,
                      {{.rows = shape.queries,
                        .blocks = cache.blocks(0),
                        .keys = shape.keys}}),
               NaiveAttention(rounded, mask), PairsTolerance(rounded));
  }
};

INSTANTIATE_TEST_SUITE_P(Isas, AttentionPairsTest,
                         ::testing::Values(Isa::kAvx512Bf16, Isa::kAmx),
                         [](const auto& isa) {
                           return std::string(IsaName(isa.param));
                         });

TEST_P(AttentionPairsTest, EqualsTheNaiveFormOverOddShapes) {
  const auto compute = MakeCompute();
  for (const AttentionShape shape :
       std::vector<AttentionShape>{{1, 1, 2, 1, 1},
                                   {1, 1, 64, 1, 16},
                                   {2, 2, 6, 3, 7},
                                   {4, 2, 64, 8, 17},
                                   {4, 1, 34, 9, 48},
                                   {3, 3, 16, 13, 65},
                                   {2, 1, 80, 7, 129},
                                   {8, 8, 62, 1, 500},
                                   {12, 4, 24, 1, 40},
                                   {1, 1, 256, 2, 33},
                                   {2, 2, 32, 17, 63},
                                   {2, 1, 96, 39, 79},
                                   {1, 1, 160, 15, 16},
                                   {2, 2, 128, 71, 100}}) {
    ExpectAttention(*compute, shape);
  }
}

TEST_P(AttentionPairsTest, EqualsTheNaiveFormAtTheBordersOfChunks) {
  const auto compute = MakeCompute();
  for (int keys :
       {kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk + 5}) {
    ExpectAttention(*compute, {2, 2, HeadDim(16), 1, keys});
    ExpectAttention(*compute, {1, 1, HeadDim(20), 11, keys});
  }
}

// The weights of a span may vanish beside those of another, before or after.
TEST_P(AttentionPairsTest, OneChunkMayOutweighTheOthers) {
  const auto compute = MakeCompute();
  for (int heavy : {3, kChunk + 7, 2 * kChunk + 1}) {
    const int dim = HeadDim(8);
    AttentionInputs in({1, 1, dim, 2, 3 * kChunk}, 1);
    std::fill(in.query.begin(), in.query.end(), 100.0f);
    std::fill_n(in.key.begin() + heavy * dim, dim, 100.0f);
    const Cache cache = MakeCache(*compute, in);
    const std::vector<float> got = Attend(
        *compute, in, cache, {{0, 2, cache.blocks(0), 3 * kChunk, false}});
    const AttentionInputs rounded = RoundedToPairs(in);
    for (int d = 0; d < dim; ++d) {
      EXPECT_FLOAT_EQ(got[d], rounded.value[heavy * dim + d]);
    }
  }
}

TEST_P(AttentionPairsTest, AddsWhatBelongsToDistances) {
  const auto compute = MakeCompute();
  const AttentionInputs in({2, 2, HeadDim(16), 21, 21}, 1);
  DistanceBias bias = {.max_distance = 5};
  bias.stride = bias.Entries();
  std::vector<float> values(2 * bias.stride);
  const auto of = [](int head, int distance) {
    return (head + 1) * 0.7f * static_cast<float>(std::clamp(distance, -5, 5));
  };
  for (int head = 0; head < 2; ++head) {
    for (int i = 0; i < bias.stride; ++i) {
      values[head * bias.stride + i] = of(head, i - bias.Edge());
    }
  }
  bias.values = values.data();
  const Cache cache = MakeCache(*compute, in);
  const AttentionInputs rounded = RoundedToPairs(in);
  const std::vector<double> expected =
      NaiveAttention(rounded, PaddingMask({21}, 21, 21),
                     [&](int head, int q, int k) { return of(head, k - q); });
  // Several rows at once, and rows of several heads at once.
  std::vector<AttentionPiece> pieces = {
      {.rows = 20, .blocks = cache.blocks(0), .keys = 21},
      {.first_row = 20,
       .rows = 1,
       .blocks = cache.blocks(0),
       .keys = 21,
       .position = 20}};
  ExpectNear(Attend(*compute, in, cache, pieces, bias), expected,
             PairsTolerance(rounded));
}

// In any split, in any order of pieces, for any team: the same bits.
TEST_P(AttentionPairsTest, BitsDependOnTheRowOnly) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  for (const int keys : {75, kChunk + 30}) {
    const int queries = 293;  // more than go together
    const AttentionInputs in({4, 2, HeadDim(40), queries, keys}, 2);
    const Cache cache = MakeCache(*alone, in, 2);
    std::vector<float> expected;
    for (Compute* team : {alone.get(), two.get()}) {
      for (int rows : {queries, 1, 2, 5, 8, 131}) {
        std::vector<AttentionPiece> pieces;
        for (int b = 1; b >= 0; --b) {
          for (int row = 0; row < queries; row += rows) {
            pieces.push_back({b * queries + row, std::min(rows, queries - row),
                              cache.blocks(b), keys});
          }
        }
        const std::vector<float> got = Attend(*team, in, cache, pieces);
        if (expected.empty()) expected = got;
        ASSERT_EQ(std::memcmp(got.data(), expected.data(),
                              got.size() * sizeof(float)),
                  0)
            << "team of " << team->team().size() << ", pieces of " << rows;
      }
    }
  }
}

TEST_P(AttentionPairsTest, ARowThatSeesNothingIsZeros) {
  const auto compute = MakeCompute();
  const AttentionInputs in({2, 2, HeadDim(16), 2, 4}, 1);
  const Cache cache = MakeCache(*compute, in);
  for (float x : Attend(*compute, in, cache, {{0, 2, cache.blocks(0), 0}})) {
    EXPECT_EQ(x, 0);
  }
}

TEST_P(AttentionPairsTest, ScoresThatOverflowStayFinite) {
  const auto compute = MakeCompute();
  const int dim = HeadDim(8);
  AttentionInputs in({1, 1, dim, 2, 3}, 1);
  std::fill(in.query.begin(), in.query.end(), 1e30f);
  std::fill_n(in.key.begin(), dim, 1e30f);
  std::fill_n(in.key.begin() + dim, 2 * dim, -1e30f);
  const Cache cache = MakeCache(*compute, in);
  const std::vector<float> got =
      Attend(*compute, in, cache, {{0, 2, cache.blocks(0), 3}});
  const AttentionInputs rounded = RoundedToPairs(in);
  for (int d = 0; d < dim; ++d) EXPECT_FLOAT_EQ(got[d], rounded.value[d]);
}

}  // namespace
}  // namespace attend
