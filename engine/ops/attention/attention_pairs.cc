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

// e^x for x <= 0, with a relative error of 3e-6; 0 where e^x underflows.
inline Vec RoughExp(Vec x) {
  const Vec y =
      Mul(Max(x, Broadcast(-126.0f)), Broadcast(1.44269504088896341f));
  const Vec n = Round(y);
  const Vec r = y - n;
  Vec p = Broadcast(9.58284e-3f);
  p = MulAdd(p, r, Broadcast(5.590644e-2f));
  p = MulAdd(p, r, Broadcast(0.24024099f));
  p = MulAdd(p, r, Broadcast(0.69312419f));
  p = MulAdd(p, r, Broadcast(1.0f));
  return Scale(p, n);
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

// Turns the scores of the first `keys` keys of a span into weights in bf16,
// which take the first half of the memory of the scores. Weights after these,
// up to a whole tile, become 0. Returns the factor for sums over earlier keys.
inline float WeighPairs(float* scores, int keys, Running& running) {
  const int padded = TilesOf(keys) * kTile;
  HideUnseen(scores, 0, keys, padded);
  const float new_max = MaxOf(scores, padded, running.max);
  const Vec minus_max = Broadcast(-new_max);
  uint16_t* const weights = reinterpret_cast<uint16_t*>(scores);
  Vec sum = Zero();
  for (int i = 0; i < padded; i += kTile) {
    const Vec e = RoughExp(Add(Load(scores + i), minus_max));
    sum = Add(sum, e);
    StoreRounded(weights + i, e);
  }
  const float before = running.sum > 0 ? ExpOf(running.max - new_max) : 0;
  running.max = new_max;
  running.sum = running.sum * before + SumOfLanes(sum);
  return before;
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

void AddAllValues(const AttentionTile& a, const std::byte* const* tiles,
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

// Computes rows [row, row + rows.count) of a head over a span of `keys` keys.
void AttendSpan(const AttentionTile& a, int head, int row, int begin, int keys,
                const std::byte* const* tiles, Ahead ahead, Rows& rows) {
  const int count = TilesOf(keys);
  const int lines = ahead.LinesOf((count + 1) / 2);
  int tile = 0;
  for (; tile + 2 <= count; tile += 2) {
    ahead.Fetch(lines);
    ScoreTiles<2>(a, rows, tiles + tile, a.scores + tile * kTile);
  }
  if (tile < count) {
    ScoreTiles<1>(a, rows, tiles + tile, a.scores + tile * kTile);
  }
  for (int r = 0; r < rows.count; ++r) {
    float* const scores = a.scores + r * kAttentionSpan;
    AdjustScores(a, head, row + r, begin, {0, keys}, scores);
    const Vec before = Broadcast(WeighPairs(scores, keys, rows.running[r]));
    if (begin == 0) continue;
    for (int d = 0; d < a.layout->head_dim; d += kLanes) {
      Store(rows.sums[r] + d, Mul(Load(rows.sums[r] + d), before));
    }
  }
  AddAllValues(a, tiles, keys, rows);
}

// Computes all rows of a head over the span that begins at `begin`.
void AttendRows(const AttentionTile& a, int head, int begin, Running* running) {
  const int left = a.seen->end - begin;
  const int keys = std::min(left, kAttentionSpan);
  const int kv_head = (a.first_head + head) / a.heads_per_kv_head;
  const size_t at = a.layer_at + kv_head * a.head_bytes;
  const std::byte* tiles[kAttentionSpan / kTile];
  for (int i = 0; i < TilesOf(keys); ++i) {
    tiles[i] = a.blocks[begin / kTile + i] + at;
  }
  const Ahead ahead(a, head, begin + keys,
                    TilesOf(std::min(left - keys, kAttentionSpan)));
  const int groups = (a.rows + kRows - 1) / kRows;
  for (int group = 0; group < groups; ++group) {
    const int row = group * kRows;
    Rows rows;
    rows.count = std::min(kRows, a.rows - row);
    rows.running = running + row;
    LoadRows(a, head, row, begin == 0, rows);
    for (int next = row + kRows; next < std::min(row + 2 * kRows, a.rows);
         ++next) {
      PrefetchRow(a, head, next);
    }
    AttendSpan(a, head, row, begin, keys, tiles, ahead.Share(group, 1, groups),
               rows);
    StoreRows(a, head, row, left == keys, rows);
  }
}

// Sets the results of a head's rows to 0.
void FillUnseen(const AttentionTile& a, int head) {
  for (int row = 0; row < a.rows; ++row) {
    std::fill_n(a.dst + ptrdiff_t{row} * a.dst_stride +
                    ptrdiff_t{head} * a.layout->head_dim,
                a.layout->head_dim, 0.0f);
  }
}

}  // namespace

void AttendPairs(const AttentionTile& args) {
  for (int head = 0; head < args.heads; ++head) {
    if (args.seen->end == 0) FillUnseen(args, head);
    Running running[kAttentionRows];
    for (int begin = 0; begin < args.seen->end; begin += kAttentionSpan) {
      AttendRows(args, head, begin, running);
    }
  }
}

ATTEND_AVX512_BF16_END
