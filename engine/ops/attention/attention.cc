#include "engine/ops/attention/attention.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/compute/op_timer.h"
#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/simd/kernel_for.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using Kernel = void (*)(const AttentionTile&);

// Keys that row `row` of a piece sees.
int KeysOf(const AttentionPiece& piece, int row) {
  return piece.keys + (piece.causal ? row : 0);
}

// Which keys row `row` of a piece sees.
Range SeenBy(const AttentionArgs& args, const AttentionPiece& piece, int row) {
  const int keys = KeysOf(piece, row);
  const int window = args.rules->window;
  if (window == 0) return {0, keys};
  const int at = piece.position + row;
  const absl::Span<const int> positions = piece.key_positions;
  if (positions.empty()) {
    const int64_t end = std::min<int64_t>(keys, int64_t{at} + window + 1);
    return {std::clamp(at - window, 0, keys), static_cast<int>(end)};
  }
  const int* const first = positions.data();
  const int64_t position = first[at];
  const int* const begin =
      std::lower_bound(first, first + keys, position - window);
  const int* const end =
      std::upper_bound(begin, first + keys, position + window);
  return {static_cast<int>(begin - first), static_cast<int>(end - first)};
}

// The cost of the first `rows` rows of one head, in keys read by a query.
// Windows count as full. The constant is the cost of a row without keys.
int64_t Cost(const AttentionArgs& args, const AttentionPiece& piece,
             int64_t rows) {
  int64_t most = std::numeric_limits<int>::max();
  const int64_t window = args.rules->window;
  if (window > 0) most = window * (piece.causal ? 1 : 2) + 1;
  const int64_t keys = std::min<int64_t>(piece.keys, most);
  // The number of rows that see one key more than the row before.
  const int64_t growing = piece.causal ? std::min(rows, most - keys) : 0;
  const int64_t more = growing * (growing - 1) / 2 + (rows - growing) * growing;
  return rows * (16 + keys) + more;
}

int64_t CostOf(const AttentionArgs& args) {
  int64_t cost = 0;
  for (const AttentionPiece& piece : args.pieces) {
    cost += Cost(args, piece, piece.rows);
  }
  return cost * args.heads;
}

// A run of a piece's queries that are computed one after the other. Query i is
// row i / heads of the run's head i % heads. Which queries are a run:
// * many rows: the rows of one head, which share the keys that are loaded;
// * few rows: the rows of all heads that read one key head, for the same
//   reason;
// * a single row, where no heads read the same key head: all heads.
// Results do not depend on this choice.
struct Run {
  const AttentionArgs& args;
  const AttentionPiece& piece;
  int heads = 1;
  int at_once = kAttentionRows;  // queries of one call of the kernel
  bool gathers = false;          // the queries have no constant stride

  int queries() const { return piece.rows * heads; }
  // The cost of the first `queries` queries.
  int64_t CostOf(int queries) const {
    const int row = queries / heads;
    const int more = queries % heads;
    const int64_t cost = Cost(args, piece, row) * (heads - more);
    return more == 0 ? cost : cost + Cost(args, piece, row + 1) * more;
  }
  // The first query that begins at `cost` or later.
  int QueryAt(int64_t cost) const {
    int first = 0;
    for (int last = queries(); first < last;) {
      const int middle = first + (last - first) / 2;
      if (CostOf(middle) < cost) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }
};

// With fewer rows than this, computation is faster than memory.
constexpr int kFewRows = 24;

Run RunOf(const AttentionArgs& args, const AttentionPiece& piece) {
  Run run = {.args = args, .piece = piece};
  const KvLayout& layout = *args.layout;
  const int group = args.heads / layout.kv_heads;
  const bool paired = layout.together == 2;
  if (piece.rows == 1 && (group == 1 || paired)) {
    run.heads = args.heads;
    run.at_once = kAttentionHeads;
  } else if (piece.rows < kFewRows && group > 1 && !paired &&
             layout.head_dim <= kAttentionGathered) {
    run.heads = group;
    run.at_once =
        std::min(kAttentionGathered / layout.head_dim, kAttentionRows);
    run.gathers = true;
  }
  return run;
}

void CheckDistances(const DistanceProducts& distances, const KvLayout& layout) {
  if (!distances.any()) return;
  ATTEND_CHECK(distances.max_distance >= 0);
  ATTEND_CHECK(distances.stride >= distances.Entries());
  ATTEND_CHECK(distances.paired == (layout.together == 2));
  ATTEND_CHECK(distances.paired || layout.dtype == KvType::kF32);
}

void CheckArgs(Isa isa, const AttentionArgs& args) {
  const AttentionRules& rules = *args.rules;
  const KvLayout& layout = *args.layout;
  constexpr size_t kTokens = KvLayout::kBlockTokens;
  ATTEND_CHECK(layout.block_tokens == KvLayout::kBlockTokens);
  ATTEND_CHECK(0 <= args.layer && args.layer < layout.layers);
  ATTEND_CHECK(args.heads % layout.kv_heads == 0);
  ATTEND_CHECK(args.dst.cols == args.heads * layout.head_dim);
  const DistanceBias& bias = rules.bias;
  const bool paired = layout.together == 2;
  ATTEND_CHECK(layout.together == 1 ||
               layout.together == MostTogether(isa, layout));
  ATTEND_CHECK(!paired || rules.window == 0);
  ATTEND_CHECK(rules.window >= 0 && bias.max_distance >= 0);
  ATTEND_CHECK(rules.softcap >= 0);
  ATTEND_CHECK(bias.values == nullptr || bias.stride >= bias.Entries());
  CheckDistances(rules.distances, layout);
  for (const AttentionPiece& piece : args.pieces) {
    ATTEND_CHECK(piece.rows > 0 && piece.first_row >= args.first_row);
    ATTEND_CHECK(piece.keys >= 0 && !(piece.causal && paired));
    ATTEND_CHECK(piece.first_row - args.first_row + piece.rows <=
                 args.dst.rows);
    ATTEND_CHECK(static_cast<size_t>(KeysOf(piece, piece.rows - 1)) <=
                 piece.blocks.size() * kTokens);
    ATTEND_CHECK(piece.position >= 0);
    const size_t positions = piece.key_positions.size();
    ATTEND_CHECK(positions == 0 ||
                 positions >= static_cast<size_t>(
                                  std::max(KeysOf(piece, piece.rows - 1),
                                           piece.position + piece.rows)));
  }
}

// Whether a call of `rows` rows converts or copies keys and values first.
bool Unpacks(const KvLayout& layout, int rows) {
  return layout.dtype != KvType::kF32 && layout.together != 2 &&
         layout.head_dim <= kAttentionUnpackedDim &&
         rows >= kAttentionUnpackedRows;
}

// The blocks that the next piece reads, if that has one row, too; no more than
// stay in the cache.
NextBlocks NextOf(const Run& run) {
  constexpr size_t kMostBytes = 128 << 10;
  constexpr int kTokens = KvLayout::kBlockTokens;
  const AttentionArgs& args = run.args;
  const AttentionPiece* const next = &run.piece + 1;
  if (next == args.pieces.end() || next->rows > 1) return {};
  const Range seen = SeenBy(args, *next, 0);
  if (seen.begin >= seen.end) return {};
  const int begin = seen.begin / kTokens;
  const size_t blocks = (seen.end + kTokens - 1) / kTokens - begin;
  const size_t most =
      kMostBytes / (args.layout->kv_heads * args.layout->head_bytes());
  return {.blocks = {next->blocks.data() + begin, std::min(blocks, most)},
          .last_keys = blocks > most ? kTokens : (seen.end - 1) % kTokens + 1};
}

// The kernel's arguments for queries [query, query + queries) of the run whose
// first head is `head`.
AttentionTile TileOf(const Run& run, int head, int query, int queries,
                     Range* seen, float* scratch) {
  const AttentionArgs& args = run.args;
  const AttentionPiece& piece = run.piece;
  const KvLayout& layout = *args.layout;
  const bool one_row = piece.rows == 1 && !run.gathers;
  const bool prefetches = one_row && layout.together != 2;
  if (one_row) head += query;
  const int row = query / run.heads;
  const int rows = one_row ? 1 : queries;
  for (int r = 0; r < rows; ++r) {
    seen[r] = SeenBy(args, piece, (query + r) / run.heads);
  }
  const int first_row = piece.first_row - args.first_row + row;
  const size_t column = static_cast<size_t>(head) * layout.head_dim;
  return {.rules = args.rules,
          .layout = &layout,
          .query = args.query +
                   static_cast<size_t>(first_row) * args.query_stride + column,
          .query_stride = args.query_stride,
          .dst = args.dst.row(first_row) + column,
          .dst_stride = args.dst.cols,
          .rows = rows,
          .heads = one_row ? queries : 1,
          .first_head = head,
          .heads_per_kv_head = args.heads / layout.kv_heads,
          .group = run.gathers ? run.heads : 1,
          .first_in_group = run.gathers ? query % run.heads : 0,
          .blocks = piece.blocks.data(),
          .next = prefetches ? NextOf(run) : NextBlocks(),
          .layer_at = layout.head_at(args.layer, 0),
          .values_at = layout.values_at(),
          .scales_at = layout.scales_at(),
          .head_bytes = layout.head_bytes(),
          .seen = seen,
          .position = piece.position + row,
          .key_positions = piece.key_positions.data(),
          .scores = scratch,
          .unpacked = Unpacks(layout, rows)
                          ? scratch + kAttentionFloats + 2 * kAttentionGathered
                          : nullptr};
}

// Calls the kernel for queries without a constant stride: copies them side by
// side, and copies the results back.
void AttendGathered(const AttentionTile& tile, Kernel kernel) {
  const int head_dim = tile.layout->head_dim;
  const auto at = [&](int query, int stride) {
    return ptrdiff_t{tile.QueryRowOf(query)} * stride +
           ptrdiff_t{tile.HeadOf(query)} * head_dim;
  };
  float* const queries = tile.scores + kAttentionFloats;
  float* const results = queries + kAttentionGathered;
  for (int i = 0; i < tile.rows; ++i) {
    std::copy_n(tile.query + at(i, tile.query_stride), head_dim,
                queries + ptrdiff_t{i} * head_dim);
  }
  AttentionTile side_by_side = tile;
  side_by_side.query = queries;
  side_by_side.query_stride = head_dim;
  side_by_side.dst = results;
  side_by_side.dst_stride = head_dim;
  kernel(side_by_side);
  for (int i = 0; i < tile.rows; ++i) {
    std::copy_n(results + ptrdiff_t{i} * head_dim, head_dim,
                tile.dst + at(i, tile.dst_stride));
  }
}

// Computes the queries whose start on the axis of cost lies in [begin, end).
void AttendShare(const AttentionArgs& args, Kernel kernel, int64_t begin,
                 int64_t end, float* scratch) {
  Range seen[kAttentionRows];
  int64_t at = 0;  // where the run begins on the axis
  for (const AttentionPiece& piece : args.pieces) {
    const Run run = RunOf(args, piece);
    const int64_t cost = run.CostOf(run.queries());
    for (int head = 0; head < args.heads; head += run.heads, at += cost) {
      if (at >= end) return;
      if (at + cost <= begin) continue;
      const int last = run.QueryAt(end - at);
      for (int query = run.QueryAt(begin - at); query < last;
           query += run.at_once) {
        const int queries = std::min(run.at_once, last - query);
        const AttentionTile tile =
            TileOf(run, head, query, queries, seen, scratch);
        if (run.gathers) {
          AttendGathered(tile, kernel);
        } else {
          kernel(tile);
        }
      }
    }
  }
}

Kernel KernelOf(Isa isa, const KvLayout& layout) {
  if (layout.together == 4) {
    const bool tiles =
        isa >= Isa::kAmx && layout.head_dim % avx512::kTiledFoursDim == 0;
    return tiles ? avx512::AttendFoursByTiles : avx512::AttendFours;
  }
  if (layout.together == 2) {
    const bool tiles =
        isa >= Isa::kAmx && layout.head_dim % avx512::kTiledDim == 0;
    return tiles ? avx512::AttendTiles : avx512::AttendPairs;
  }
  return KernelFor(isa, baseline::AttendTile, avx2::AttendTile,
                   avx512::AttendTile);
}

}  // namespace

size_t AttentionScratchFloats(int head_dim) {
  return kAttentionFloats + size_t{2} * kAttentionGathered +
         size_t{2} * kAttentionSpan *
             (std::min(head_dim, kAttentionUnpackedDim) + 1);
}

void Attention(ExecContext& context, const AttentionArgs& args) {
  CheckArgs(context.isa(), args);
  const Kernel kernel = KernelOf(context.isa(), *args.layout);
  const int64_t cost = CostOf(args);
  if (cost == 0) return;
  const OpTimer timer({.name = "attention"});
  const int members = context.team().size();
  context.team().Run([&](int member) {
    const absl::Span<float> scratch = context.scratch(member);
    ATTEND_CHECK(scratch.size() >=
                 AttentionScratchFloats(args.layout->head_dim));
    AttendShare(args, kernel, cost * member / members,
                cost * (member + 1) / members, scratch.data());
  });
}

}  // namespace attend
