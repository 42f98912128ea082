#include "engine/ops/attention/attention.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/ops/attention/mask.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"
#include "tests/engine/ops/attention_context.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr KvType kKvTypes[] = {KvType::kF32, KvType::kBf16, KvType::kInt8};
// Keys from which on a row is computed in several spans.
constexpr int kChunk = 512;

using AttentionTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionTest, kAttentionIsas, NameOfIsa);

// Within f32's rounding of the formula over the rounded keys and values, and
// within the dtype's of the formula over the exact ones.
void ExpectAttention(Compute& compute, const AttentionShape& shape) {
  const AttentionInputs in(shape, 1);
  const AttentionMask mask =
      PaddingMask({shape.keys}, shape.queries, shape.keys);
  const std::vector<double> exact = NaiveAttention(in, mask);
  for (const KvType dtype : kKvTypes) {
    SCOPED_TRACE(testing::Message()
                 << TypeName(dtype) << ", " << shape.heads << " heads, "
                 << shape.queries << " queries, " << shape.keys << " keys of "
                 << shape.head_dim);
    const Cache cache(compute, in, {FirstTokens(shape.keys)}, dtype);
    const AttentionPiece piece{
        .rows = shape.queries, .blocks = cache.blocks(0), .keys = shape.keys};
    const std::vector<float> got = Attend(compute, in, cache, {piece});
    const AttentionInputs rounded = Rounded(in, dtype);
    ExpectNear(got, NaiveAttention(rounded, mask), AttentionTolerance(rounded));
    ExpectNear(got, exact, AttentionTolerance(in, dtype));
  }
}

TEST_P(AttentionTest, EqualsTheNaiveFormOverOddShapes) {
  const auto compute = MakeCompute();
  for (const AttentionShape shape :
       std::vector<AttentionShape>{{1, 1, 1, 1, 1},
                                   {1, 1, 64, 1, 16},
                                   {2, 2, 5, 3, 7},
                                   {4, 2, 64, 8, 17},
                                   {4, 1, 33, 9, 48},
                                   {3, 3, 16, 13, 65},
                                   {2, 1, 80, 7, 129},
                                   {8, 8, 63, 1, 500},
                                   {12, 4, 24, 1, 40},
                                   {2, 2, 128, 71, 100},
                                   // The largest heads that are unpacked, over
                                   // a whole span, and larger ones.
                                   {1, 1, 256, 40, 600},
                                   {1, 1, 260, 40, 70},
                                   // More lanes than lie side by side.
                                   {10, 2, 600, 5, 40}}) {
    ExpectAttention(*compute, shape);
  }
}

TEST_P(AttentionTest, EqualsTheNaiveFormAtTheBordersOfChunks) {
  const auto compute = MakeCompute();
  for (int keys :
       {kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk + 5}) {
    ExpectAttention(*compute, {2, 2, 16, 1, keys});
    ExpectAttention(*compute, {1, 1, 20, 11, keys});
  }
}

TEST_P(AttentionTest, CausalRowsCrossTheBorderOfAChunk) {
  const auto compute = MakeCompute();
  const AttentionInputs in({2, 2, 12, 70, kChunk + 40}, 1);
  const AttentionMask mask = CausalMask(1, 70, kChunk + 40);
  for (const KvType dtype : kKvTypes) {
    const Cache cache(*compute, in, {FirstTokens(kChunk + 40)}, dtype);
    const AttentionInputs rounded = Rounded(in, dtype);
    ExpectNear(Attend(*compute, in, cache,
                      {{0, 70, cache.blocks(0), kChunk - 29, true}}),
               NaiveAttention(rounded, mask), AttentionTolerance(rounded));
  }
}

// The weights of a span may vanish beside those of another, before or after.
TEST_P(AttentionTest, OneChunkMayOutweighTheOthers) {
  const auto compute = MakeCompute();
  for (int heavy : {3, kChunk + 7, 2 * kChunk + 1}) {
    AttentionInputs in({1, 1, 8, 2, 3 * kChunk}, 1);
    std::fill(in.query.begin(), in.query.end(), 100.0f);
    std::fill_n(in.key.begin() + heavy * 8, 8, 100.0f);
    const Cache cache(*compute, in, {FirstTokens(3 * kChunk)});
    const std::vector<float> got = Attend(
        *compute, in, cache, {{0, 2, cache.blocks(0), 3 * kChunk, false}});
    for (int d = 0; d < 8; ++d) {
      EXPECT_FLOAT_EQ(got[d], in.value[heavy * 8 + d]);
    }
  }
}

// What all rows of `in` give, as pieces of `rows` rows in reversed order.
std::vector<float> AttendInPieces(Compute& compute, const AttentionInputs& in,
                                  const Cache& cache, bool causal, int rows) {
  const int total = in.shape.queries;
  const int first_keys = in.shape.keys - (causal ? total - 1 : 0);
  std::vector<AttentionPiece> pieces;
  for (int b = 1; b >= 0; --b) {
    for (int row = 0; row < total; row += rows) {
      pieces.push_back({b * total + row, std::min(rows, total - row),
                        cache.blocks(b), first_keys + (causal ? row : 0),
                        causal});
    }
  }
  return Attend(compute, in, cache, pieces);
}

// Row alone, in pairs, in any split of a prompt, in any order of pieces, for
// any team: the same bits.
void ExpectBitsOfTheRowOnly(const AttentionShape& shape, bool causal,
                            KvType dtype, const std::vector<Compute*>& teams) {
  const AttentionInputs in(shape, 2);
  const std::vector<int> tokens = FirstTokens(shape.keys);
  const Cache cache(*teams.front(), in, {tokens, tokens}, dtype);
  const std::vector<float> expected =
      AttendInPieces(*teams.front(), in, cache, causal, shape.queries);
  for (Compute* team : teams) {
    for (int rows : {1, 2, 3, 5, 8, 31, shape.queries}) {
      if (kSanitized && rows != 1 && rows != 8) continue;
      const std::vector<float> got =
          AttendInPieces(*team, in, cache, causal, rows);
      ASSERT_EQ(
          std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)),
          0)
          << TypeName(dtype) << ", team of " << team->team().size()
          << ", pieces of " << rows << " rows";
    }
  }
}

TEST_P(AttentionTest, BitsDependOnTheRowOnly) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  const auto three = MakeCompute(3);
  for (const KvType dtype : kKvTypes) {
    for (const bool causal : {false, true}) {
      ExpectBitsOfTheRowOnly({4, 2, 40, 75, 75}, causal, dtype,
                             {alone.get(), two.get(), three.get()});
      ExpectBitsOfTheRowOnly({2, 2, 17, 69, kChunk + 30}, causal, dtype,
                             {alone.get(), two.get()});
      // More rows than go together.
      ExpectBitsOfTheRowOnly({1, 1, 16, 293, 2 * kChunk + 30}, causal, dtype,
                             {alone.get(), two.get()});
    }
  }
}

// Each piece sees what has been stored up to its own end, as a server stores
// it: pieces of the prompt, then token by token.
TEST_P(AttentionTest, APromptInPiecesThenTokensAreThoseOfOnePiece) {
  constexpr int kTotal = kChunk + 60;
  const auto compute = MakeCompute(2);
  AttentionContext context(*compute);
  const AttentionInputs in({4, 2, 24, kTotal, kTotal}, 1);
  for (const KvType dtype : kKvTypes) {
    const Cache whole(*compute, in, {FirstTokens(kTotal)}, dtype);
    const std::vector<float> expected = Attend(*compute, in, whole,
                                               {{.rows = kTotal,
                                                 .blocks = whole.blocks(0),
                                                 .keys = 1,
                                                 .causal = true}});
    Blocks pool(whole.layout(), kTotal / 16 + 1);
    const std::vector<std::byte*> blocks = pool.Take(kTotal);
    std::vector<float> got(expected.size());
    int first = 0;
    for (const int rows : {33, kChunk, 24, 1, 1, 1}) {
      const size_t at = static_cast<size_t>(first) * in.kv_cols();
      const std::vector<KvWrite> writes = {
          {.rows = rows, .blocks = blocks, .first_token = first}};
      WriteKv(*compute, {.layout = &whole.layout(),
                         .layer = 1,
                         .key = &in.key[at],
                         .value = &in.value[at],
                         .stride = in.kv_cols(),
                         .writes = writes});
      const std::vector<AttentionPiece> pieces = {
          {.rows = rows, .blocks = blocks, .keys = first + 1, .causal = true}};
      const AttentionRules rules = {.scale = in.scale()};
      Attention(context.get(), {.rules = &rules,
                                .layout = &whole.layout(),
                                .layer = 1,
                                .heads = in.shape.heads,
                                .query = &in.query[first * in.query_cols()],
                                .query_stride = in.query_cols(),
                                .pieces = pieces,
                                .dst = {&got[first * in.query_cols()], rows,
                                        in.query_cols()}});
      first += rows;
    }
    ASSERT_EQ(first, kTotal);
    EXPECT_EQ(got, expected) << TypeName(dtype);
  }
}

}  // namespace
}  // namespace attend
