// The attention kernel over fours of int8 (see attention_fours.cc) by the tiles
// of AMX, where a call has enough rows: sixteen rows together. Sums of a span
// are whole numbers, so that the bits are those of vectors.
//
// Keys lie as a tile reads them: a row has four numbers of each of sixteen
// keys. Values are copied side by side first, once for all rows.
//
// By count, bound by what is done with the sums, and by the softmax.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/attention_unroll.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/amx_tiles.h"
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

// The first tiles are sums: of upper and of lower bytes, for two tiles of keys
// or of columns.
constexpr int kUpper = 4;  // bytes of queries or weights
constexpr int kLower = 5;
constexpr int kFirst = 6;  // keys or values
constexpr int kSecond = 7;

amx::TileShapes Shapes() {
  amx::TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.Set(tile, amx::kTileHeight, amx::kTileBytes);
  }
  return shapes;
}

// The sums of two tiles of keys or of columns.
struct SumsOfTwo {
  struct Both {
    int32_t upper[amx::kTileHeight][kLanes];
    int32_t lower[amx::kTileHeight][kLanes];
  };
  alignas(64) Both tiles[2];

  static void Zero() {
    amx::Zero<0>();
    amx::Zero<1>();
    amx::Zero<2>();
    amx::Zero<3>();
  }
  void Store() {
    amx::Store<0>(tiles[0].upper, amx::kTileBytes);
    amx::Store<1>(tiles[0].lower, amx::kTileBytes);
    amx::Store<2>(tiles[1].upper, amx::kTileBytes);
    amx::Store<3>(tiles[1].lower, amx::kTileBytes);
  }
};

// Adds the products of the loaded tiles to the first tiles.
template <typename Signs>
inline void AddProducts() {
  Signs::template AddProducts<0, kUpper, kFirst>();
  Signs::template AddProducts<1, kLower, kFirst>();
  Signs::template AddProducts<2, kUpper, kSecond>();
  Signs::template AddProducts<3, kLower, kSecond>();
}

// The sums of sixteen rows by tiles, like VectorSums. a.unpacked has the
// span's values, [keys / 4][head_dim][4].
struct TileSums {
  static constexpr int kRows = amx::kTileHeight;

  static int TimesToFetch(int head_dim, int tiles) {
    return (tiles + 1) / 2 + head_dim / (2 * kLanes);
  }

  static void Score(const AttentionTile& a, const WideQuery* queries,
                    const Tile* span, Range tiles, Ahead& ahead, int lines) {
    for (int tile = tiles.begin; tile < tiles.end; tile += 2) {
      ahead.Fetch(lines);
      // The last one may be computed twice.
      const int second = std::min(tile + 1, tiles.end - 1);
      SumsOfTwo sums;
      SumsOfTwo::Zero();
      for (int d = 0; d < a.layout->head_dim; d += amx::kTileBytes) {
        amx::Load<kUpper>(queries->upper + d, sizeof(WideQuery));
        amx::Load<kLower>(queries->lower + d, sizeof(WideQuery));
        amx::Load<kFirst>(span[tile].keys() + d * kTile, amx::kTileBytes);
        amx::Load<kSecond>(span[second].keys() + d * kTile, amx::kTileBytes);
        AddProducts<amx::SignedByUnsigned>();
      }
      sums.Store();
      StoreScores(a, queries, span, tile, sums.tiles[0]);
      StoreScores(a, queries, span, second, sums.tiles[1]);
    }
  }

  static void AddValues(const AttentionTile& a, const Tile*, Range tiles,
                        const SpanWeights* weights, float* dst, Ahead& ahead,
                        int lines) {
    constexpr int kGroup = WideWeights::kTiles;
    constexpr ptrdiff_t kRowBytes = kAttentionSpan * sizeof(float);
    static_assert(sizeof(WideWeights::upper) == amx::kTileBytes);
    const auto* const wide = reinterpret_cast<const WideWeights*>(a.scores);
    const auto* const values = reinterpret_cast<const int8_t*>(a.unpacked);
    const ptrdiff_t four_bytes = ptrdiff_t{a.layout->head_dim} * kFour;
    for (int d = 0; d < a.layout->head_dim; d += 2 * kLanes) {
      ahead.Fetch(lines);
      SumsOfTwo sums;
      SumsOfTwo::Zero();
      for (int group = tiles.begin / kGroup; group * kGroup < tiles.end;
           ++group) {
        const int8_t* const from =
            values + group * kGroup * kTile / kFour * four_bytes + d * kFour;
        amx::Load<kUpper>(wide[group].upper, kRowBytes);
        amx::Load<kLower>(wide[group].lower, kRowBytes);
        amx::Load<kFirst>(from, four_bytes);
        amx::Load<kSecond>(from + kFoursBytes, four_bytes);
        AddProducts<amx::UnsignedBySigned>();
      }
      sums.Store();
      for (int r = 0; r < kRows; ++r) {
        float* const to = dst + r * ptrdiff_t{a.dst_stride} + d;
        for (int c = 0; c < 2; ++c) {
          AddSpanSums(_mm512_load_si512(sums.tiles[c].upper[r]),
                      _mm512_load_si512(sums.tiles[c].lower[r]), weights[r],
                      kAll, to + c * kLanes);
        }
      }
    }
  }

 private:
  static void StoreScores(const AttentionTile& a, const WideQuery* queries,
                          const Tile* span, int tile,
                          const SumsOfTwo::Both& sums) {
    for (int r = 0; r < kRows; ++r) {
      const __m512i lower =
          _mm512_add_epi32(_mm512_load_si512(sums.lower[r]),
                           _mm512_set1_epi32(queries[r].offset));
      StoreTileScores(a, queries[r], span[tile],
                      _mm512_load_si512(sums.upper[r]), lower,
                      a.RowScores(r) + tile * kTile);
    }
  }
};
static_assert(TileSums::kRows <= kAttentionScored);

// Copies the values of a span side by side.
inline void CopyValues(const AttentionTile& a, const Tile* span, int tiles) {
  const size_t bytes = size_t{kTile} * a.layout->head_dim;
  auto* const to = reinterpret_cast<std::byte*>(a.unpacked);
  for (int tile = 0; tile < tiles; ++tile) {
    std::memcpy(to + tile * bytes, span[tile].values(a), bytes);
  }
}

}  // namespace

void AttendFoursByTiles(const AttentionTile& args) {
  if (args.unpacked == nullptr || SeesFew(args)) return AttendFours(args);
  const amx::Tiles tiles(Shapes());
  AttendRows(args, [&](const Tile* span, int count, int begin,
                       const Ahead& ahead, Running* running, int& row) {
    CopyValues(args, span, count);
    AttendEach<TileSums>(args, span, begin, ahead, running, row);
  });
}

ATTEND_AVX512_VNNI_END
