// The attention kernel over pairs (see attention_pairs.cc) by the tiles of AMX:
// sixteen rows together. Keys lie as a tile reads them: a row has two numbers
// of each of sixteen keys. So do values: a row has two keys of sixteen columns.
//
// Bound by the softmax.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/amx_tiles.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_BF16_BEGIN
namespace {

constexpr int kRows = amx::kTileHeight;

}  // namespace

#include "engine/ops/attention/attention_ahead.inc"
#include "engine/ops/attention/attention_pairs_rows.inc"

namespace {

// Numbers of a query in a tile.
constexpr int kTileNumbers = amx::kTileBytes / sizeof(uint16_t);
static_assert(kTileNumbers == kTiledDim);

// The first tiles are sums. A block has as many keys as a tile of weights has
// numbers in half a row, so a tile of values has half the height.
constexpr int kSums = 4;
constexpr int kQueries = 4;
constexpr int kKeys = 5;
constexpr int kWeights = 6;
constexpr int kValues = 7;
constexpr int kPairs = kTile / 2;

amx::TileShapes Shapes() {
  amx::TileShapes shapes;
  for (int tile = 0; tile < kWeights; ++tile) {
    shapes.Set(tile, amx::kTileHeight, amx::kTileBytes);
  }
  shapes.Set(kWeights, amx::kTileHeight, kTile * sizeof(uint16_t));
  shapes.Set(kValues, kPairs, amx::kTileBytes);
  return shapes;
}

// Bytes from row to row.
constexpr ptrdiff_t kScoreStride = kAttentionSpan * sizeof(float);
constexpr ptrdiff_t kQueryStride = kMaxDim * sizeof(uint16_t);
constexpr ptrdiff_t kSumStride = kMaxDim * sizeof(float);

// Calls f<0>(), ..., f<T - 1>().
template <int T, typename F>
inline void ForEach(F f) {
  [&]<int... t>(std::integer_sequence<int, t...>) {
    (f.template operator()<t>(), ...);
  }
  (std::make_integer_sequence<int, T>());
}

// Computes the products of all queries with T tiles of keys.
template <int T>
inline void ScoreTiles(int head_dim, const Rows& rows,
                       const std::byte* const* tiles, float* scores) {
  ForEach<T>([]<int t>() { amx::Zero<t>(); });
  for (int d = 0; d < head_dim; d += kTileNumbers) {
    amx::Load<kQueries>(rows.query[0] + d, kQueryStride);
    ForEach<T>([&]<int t>() {
      amx::Load<kKeys>(tiles[t] + d * kTile * sizeof(uint16_t),
                       amx::kTileBytes);
      amx::Bf16::AddProducts<t, kQueries, kKeys>();
    });
  }
  ForEach<T>([&]<int t>() { amx::Store<t>(scores + t * kTile, kScoreStride); });
}

// Computes the scores of all rows with the first `count` tiles of a span.
inline void ScoreSpan(const AttentionTile& a, const Rows& rows,
                      const std::byte* const* tiles, int count, Ahead ahead) {
  const int head_dim = a.layout->head_dim;
  int tile = 0;
  for (; tile + kSums <= count; tile += kSums) {
    ScoreTiles<kSums>(head_dim, rows, tiles + tile, a.scores + tile * kTile);
  }
  for (; tile < count; ++tile) {
    ScoreTiles<1>(head_dim, rows, tiles + tile, a.scores + tile * kTile);
  }
  const Vec scale = Broadcast(a.rules->scale);
  const int lines = ahead.LinesOf(rows.count);
  for (int r = 0; r < rows.count; ++r) {
    ahead.Fetch(lines);
    float* const scores = a.scores + r * kAttentionSpan;
    for (int i = 0; i < count * kTile; i += kLanes) {
      Store(scores + i, Finite(Mul(Load(scores + i), scale)));
    }
  }
}

// The values of the first `keys` keys of a tile; the memory of other keys may
// hold anything, which a weight of 0 does not undo.
class KnownValues {
 public:
  KnownValues(const std::byte* values, int keys, int head_dim) {
    const auto* const from = reinterpret_cast<const uint32_t*>(values);
    for (int pair = 0; pair < kPairs; ++pair) {
      const int known = keys - 2 * pair;
      const auto mask = _mm512_set1_epi32(known >= 2   ? -1
                                          : known == 1 ? 0xffff
                                                       : 0);
      for (int i = pair * head_dim; i < (pair + 1) * head_dim; i += kLanes) {
        _mm512_storeu_si512(
            values_ + i, _mm512_and_si512(_mm512_loadu_si512(from + i), mask));
      }
    }
  }
  const std::byte* values() const {
    return reinterpret_cast<const std::byte*>(values_);
  }

 private:
  alignas(64) uint32_t values_[kPairs * kMaxDim];
};

// Adds the weighted values of `count` tiles of keys to columns [column, column
// + C * kLanes) of the rows.
template <int C>
inline void AddValues(const AttentionTile& a, const std::byte* const* values,
                      int count, int column, Rows& rows) {
  const ptrdiff_t row_bytes = a.layout->head_dim * sizeof(uint32_t);
  const auto* weights = reinterpret_cast<const uint16_t*>(a.scores);
  ForEach<C>([&]<int c>() {
    amx::Load<c>(rows.sums[0] + column + c * kLanes, kSumStride);
  });
  for (int tile = 0; tile < count; ++tile, weights += kTile) {
    amx::Load<kWeights>(weights, kScoreStride);
    ForEach<C>([&]<int c>() {
      amx::Load<kValues>(
          values[tile] + (column + c * kLanes) * sizeof(uint32_t), row_bytes);
      amx::Bf16::AddProducts<c, kWeights, kValues>();
    });
  }
  ForEach<C>([&]<int c>() {
    amx::Store<c>(rows.sums[0] + column + c * kLanes, kSumStride);
  });
}

// AddValues() for all columns and the first `keys` keys of a span.
inline void AddAllValues(const AttentionTile& a, const std::byte* const* tiles,
                         int keys, Rows& rows) {
  const int head_dim = a.layout->head_dim;
  const int count = TilesOf(keys);
  const std::byte* values[kAttentionSpan / kTile];
  for (int tile = 0; tile < count; ++tile) {
    values[tile] = tiles[tile] + a.layout->values_at();
  }
  const KnownValues last(values[count - 1], keys - (count - 1) * kTile,
                         head_dim);
  values[count - 1] = last.values();
  int column = 0;
  for (; column + kSums * kLanes <= head_dim; column += kSums * kLanes) {
    AddValues<kSums>(a, values, count, column, rows);
  }
  for (; column < head_dim; column += 2 * kLanes) {
    AddValues<2>(a, values, count, column, rows);
  }
}

}  // namespace

#include "engine/ops/attention/attention_pairs_span.inc"

void AttendTiles(const AttentionTile& args) {
  const amx::Tiles tiles(Shapes());
  AttendHeads(args);
}

ATTEND_AVX512_BF16_END
