// The attention kernel over keys and values that lie in fours of int8 (see
// KvLayout).
//
// Differences to attention_kernel.inc:
// * queries, and the weights of a span of keys, are rounded to 16 bits: one
//   instruction multiplies four bytes a lane, and adds the products;
// * sums of a span are whole numbers, so that they are exact: a row's bits do
//   not depend on other rows.
//
// One row is bound by the memory of keys and values, many rows by
// multiplications, of which there are half as many as in f32.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/attention_unroll.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_VNNI_BEGIN

// Each of these uses the ones above it.
// clang-format off
#include "engine/ops/attention/attention_ahead.inc"
#include "engine/ops/attention/attention_softmax.inc"
#include "engine/ops/attention/attention_sums.inc"
#include "engine/ops/attention/attention_span.inc"
#include "engine/ops/attention/attention_fours_wide.inc"
#include "engine/ops/attention/attention_fours_sums.inc"
#include "engine/ops/attention/attention_fours_rows.inc"
// clang-format on

namespace {

// Computes the scores of all heads of a row with `tiles` of a span.
inline void ScoreHeadsInFours(const AttentionTile& a, const WideQuery* queries,
                              const Tile (*spans)[kSpanTiles], Range tiles) {
  constexpr int kStreams = 4;
  const WideQuery* from[kStreams];
  Tile at[kStreams];
  float* scores[kStreams];
  int streams = 0;
  for (int head = 0; head < a.heads; ++head) {
    for (int tile = tiles.begin; tile < tiles.end; ++tile) {
      from[streams] = queries + head;
      at[streams] = spans[head][tile];
      scores[streams] = a.RowScores(head) + tile * kTile;
      if (++streams < kStreams) continue;
      ScoreStreamsInFours<kStreams>(a, from, at, scores);
      streams = 0;
    }
  }
  for (int s = 0; s < streams; ++s) {
    ScoreStreamsInFours<1>(a, from + s, at + s, scores + s);
  }
}

// Computes one row of several heads, step by step for all heads: the CPU
// computes several heads at once, even with few keys.
void AttendHeads(const AttentionTile& a) {
  Running running[kAttentionHeads];
  Tile spans[kAttentionHeads][kSpanTiles];
  WideQuery queries[kAttentionHeads];
  const auto column = [&](int head) {
    return ptrdiff_t{head} * a.layout->head_dim;
  };
  for (int head = 0; head < a.heads; ++head) {
    Widen(a.query + column(head), a.layout->head_dim, queries[head]);
  }
  Ahead none;
  for (int begin = a.seen->begin / kTile * kTile; begin < a.seen->end;
       begin = SpanEnd(begin)) {
    const Range seen = SeenInSpan(*a.seen, begin);
    const Range tiles = {seen.begin / kTile, TilesOf(seen.end)};
    for (int head = 0; head < a.heads; ++head) {
      FindTiles(a, head, begin, tiles.end, spans[head]);
    }
    ScoreHeadsInFours(a, queries, spans, tiles);
    SpanWeights weights[kAttentionHeads];
    for (int head = 0; head < a.heads; ++head) {
      AdjustScores(a, head, 0, begin, seen, a.RowScores(head));
      weights[head] = WeighFours(a, spans[head], seen, tiles, running[head],
                                 a.RowScores(head));
    }
    for (int head = 0; head < a.heads; ++head) {
      float* const dst = a.dst + column(head);
      AddFoursToRows<1>(a, spans[head], tiles, weights + head,
                        a.RowScores(head), dst, none, 0);
      Finish(a, 0, begin, seen, running[head], dst);
      if (a.seen->end <= SpanEnd(begin)) FetchNext(a, head);
    }
  }
  FillUnseen(a, running[0], a.dst);
}

}  // namespace

void AttendFours(const AttentionTile& args) {
  if (args.heads > 1) {
    AttendHeads(args);
  } else {
    AttendRows(args, [](auto&&...) {});
  }
}

ATTEND_AVX512_VNNI_END
