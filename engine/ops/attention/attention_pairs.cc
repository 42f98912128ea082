// The attention kernel over keys and values that lie in pairs of bf16 (see
// KvLayout), for rows that all see the same keys: an encoder's.
//
// Differences to attention_kernel.inc:
// * queries and weights are rounded to bf16 too: one instruction multiplies and
//   adds two numbers a lane;
// * rows are always computed in groups of eight, the last group with rows of
//   zeros: a row's bits depend on that row only.
//
// Bound by multiplications. With head_dim 32 the softmax takes half as long
// again, though its exponential is no more precise than bf16 needs.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_BF16_BEGIN
namespace {

constexpr int kRows = 8;

}  // namespace

#include "engine/ops/attention/attention_ahead.inc"
#include "engine/ops/attention/attention_pairs_rows.inc"

namespace {

inline Vec MulAddPairs(__m512i a, __m512i b, Vec sum) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a),
                          reinterpret_cast<__m512bh>(b));
}

inline __m512i BroadcastPair(const uint16_t* p) {
  int pair;
  std::memcpy(&pair, p, sizeof(pair));
  return _mm512_set1_epi32(pair);
}

// Computes the scores of all rows with T tiles of keys. Row r's are at scores +
// r * kAttentionSpan.
template <int T>
inline void ScoreTiles(const AttentionTile& a, const Rows& rows,
                       const std::byte* const* tiles, float* scores) {
  Vec sums[kRows][T];
  for (Vec(&row)[T] : sums) std::fill_n(row, T, Zero());
  for (int d = 0; d < a.layout->head_dim; d += 2) {
    __m512i keys[T];
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) {
      keys[t] = _mm512_loadu_si512(tiles[t] + d * kTile * sizeof(uint16_t));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i query = BroadcastPair(rows.query[r] + d);
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) {
        sums[r][t] = MulAddPairs(query, keys[t], sums[r][t]);
      }
    }
  }
  const Vec scale = Broadcast(a.rules->scale);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) {
      Store(scores + r * kAttentionSpan + t * kTile,
            Finite(Mul(sums[r][t], scale)));
    }
  }
}

// Computes the scores of all rows with the first `count` tiles of a span.
inline void ScoreSpan(const AttentionTile& a, const Rows& rows,
                      const std::byte* const* tiles, int count, Ahead ahead) {
  const int lines = ahead.LinesOf((count + 1) / 2);
  int tile = 0;
  for (; tile + 2 <= count; tile += 2) {
    ahead.Fetch(lines);
    ScoreTiles<2>(a, rows, tiles + tile, a.scores + tile * kTile);
  }
  if (tile < count) {
    ScoreTiles<1>(a, rows, tiles + tile, a.scores + tile * kTile);
  }
}

// Adds the weighted values of the first `keys` keys of a span to columns
// [column, column + C * kLanes) of the rows. `last`: the lanes of the last
// vector that are columns.
template <int C>
inline void AddValues(const AttentionTile& a, const std::byte* const* tiles,
                      int keys, int column, __mmask16 last, Rows& rows) {
  Vec sums[kRows][C];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      sums[r][c] = Load(rows.sums[r] + column + c * kLanes);
    }
  }
  const size_t row_bytes = a.layout->head_dim * sizeof(uint32_t);
  const size_t at = a.layout->values_at() + column * sizeof(uint32_t);
  const uint16_t* const weights = reinterpret_cast<const uint16_t*>(a.scores);
  for (int key = 0; key < keys; key += 2) {
    const std::byte* const from =
        tiles[key / kTile] + at + key % kTile / 2 * row_bytes;
    // The last pair may have no second key; the memory of that key may hold
    // anything.
    const int both = key + 1 < keys ? -1 : 0xffff;
    __m512i values[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const __mmask16 lanes = c == C - 1 ? last : kAll;
      values[c] = _mm512_and_si512(
          _mm512_maskz_loadu_epi32(lanes, from + c * sizeof(__m512i)),
          _mm512_set1_epi32(both));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i weight =
          BroadcastPair(weights + 2 * r * kAttentionSpan + key);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        sums[r][c] = MulAddPairs(weight, values[c], sums[r][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      Store(rows.sums[r] + column + c * kLanes, sums[r][c]);
    }
  }
}

// AddValues() for all columns.
inline void AddAllValues(const AttentionTile& a, const std::byte* const* tiles,
                         int keys, Rows& rows) {
  const int head_dim = a.layout->head_dim;
  int column = 0;
  for (; column + 2 * kLanes <= head_dim; column += 2 * kLanes) {
    AddValues<2>(a, tiles, keys, column, kAll, rows);
  }
  for (; column < head_dim; column += kLanes) {
    AddValues<1>(a, tiles, keys, column, LanesOf(head_dim - column), rows);
  }
}

}  // namespace

#include "engine/ops/attention/attention_pairs_span.inc"

void AttendPairs(const AttentionTile& args) { AttendHeads(args); }

ATTEND_AVX512_BF16_END
