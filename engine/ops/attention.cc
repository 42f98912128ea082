#include "engine/ops/attention.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/ops/attention_kernel.h"
#include "engine/ops/kernel_for.h"
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
  if (args.window == 0) return {0, keys};
  const int at = piece.position + row;
  const absl::Span<const int> positions = piece.key_positions;
  if (positions.empty()) {
    const int64_t end = std::min<int64_t>(keys, int64_t{at} + args.window + 1);
    return {std::clamp(at - args.window, 0, keys), static_cast<int>(end)};
  }
  const int* const first = positions.data();
  const int64_t position = first[at];
  const int* const begin =
      std::lower_bound(first, first + keys, position - args.window);
  const int* const end =
      std::upper_bound(begin, first + keys, position + args.window);
  return {static_cast<int>(begin - first), static_cast<int>(end - first)};
}

// How pieces are cut into calls of the kernel; results do not depend on it.
// Rows of one head share what is loaded of its keys; a single row takes several
// heads at once instead.
struct Grain {
  int rows = 0;   // at most, of a piece of several rows
  int heads = 0;  // at most, of a piece of one row

  int RowsOf(const AttentionPiece& piece) const {
    return std::min(rows, piece.rows);
  }
  int HeadsOf(const AttentionPiece& piece) const {
    return piece.rows == 1 ? heads : 1;
  }
};

// What the first `rows` rows of one head cost, in keys read by a query, taking
// windows to be full; the constant is what a row costs besides.
int64_t Cost(const AttentionArgs& args, const AttentionPiece& piece,
             int64_t rows) {
  int64_t most = std::numeric_limits<int>::max();
  if (args.window > 0) most = int64_t{args.window} * (piece.causal ? 1 : 2) + 1;
  const int64_t keys = std::min<int64_t>(piece.keys, most);
  // The rows that see one key more than the row before.
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

// Large tiles, but several for each member, so that all end together.
Grain GrainOf(const AttentionArgs& args, int members) {
  Grain grain = {.rows = kAttentionRows, .heads = kAttentionLanes};
  const auto fewer_than = [&](int wanted) {
    int64_t tiles = 0;
    for (const AttentionPiece& piece : args.pieces) {
      const int rows = grain.RowsOf(piece);
      const int heads = grain.HeadsOf(piece);
      tiles += int64_t{(piece.rows + rows - 1) / rows} *
               ((args.heads + heads - 1) / heads);
      if (tiles >= wanted) return false;
    }
    return true;
  };
  if (members == 1) return grain;
  while (grain.rows > 8 && fewer_than(8 * members)) grain.rows /= 2;
  while (grain.heads > 1 && fewer_than(4 * members)) grain.heads /= 2;
  return grain;
}

void CheckArgs(const Compute& compute, const AttentionArgs& args) {
  const KvLayout& layout = *args.layout;
  constexpr size_t kTokens = KvLayout::kBlockTokens;
  ATTEND_CHECK(layout.block_tokens == KvLayout::kBlockTokens);
  ATTEND_CHECK(0 <= args.layer && args.layer < layout.layers);
  ATTEND_CHECK(args.heads % layout.kv_heads == 0);
  ATTEND_CHECK(args.dst.cols == args.heads * layout.head_dim);
  const DistanceBias& bias = args.bias;
  ATTEND_CHECK(!layout.paired ||
               (CanPair(compute.isa(), layout) && args.window == 0));
  ATTEND_CHECK(args.window >= 0 && bias.max_distance >= 0);
  ATTEND_CHECK(args.softcap >= 0);
  ATTEND_CHECK(bias.values == nullptr || bias.stride >= bias.Entries());
  for (const AttentionPiece& piece : args.pieces) {
    ATTEND_CHECK(piece.rows > 0 && piece.first_row >= args.first_row);
    ATTEND_CHECK(piece.keys >= 0 && !(piece.causal && layout.paired));
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

AttentionTile TileOf(const AttentionArgs& args, const AttentionPiece& piece,
                     int head, int heads, int row, int rows, Range* seen,
                     float* scratch) {
  const KvLayout& layout = *args.layout;
  for (int r = 0; r < rows; ++r) seen[r] = SeenBy(args, piece, row + r);
  DistanceBias bias = args.bias;
  if (bias.values != nullptr) bias.values += ptrdiff_t{head} * bias.stride;
  const int first_row = piece.first_row - args.first_row + row;
  const size_t column = static_cast<size_t>(head) * layout.head_dim;
  return {.layout = &layout,
          .query = args.query +
                   static_cast<size_t>(first_row) * args.query_stride + column,
          .query_stride = args.query_stride,
          .dst = args.dst.row(first_row) + column,
          .dst_stride = args.dst.cols,
          .rows = rows,
          .heads = heads,
          .first_head = head,
          .heads_per_kv_head = args.heads / layout.kv_heads,
          .scale = args.scale,
          .blocks = piece.blocks.data(),
          .layer_at = layout.head_at(args.layer, 0),
          .values_at = layout.values_at(),
          .scales_at = layout.scales_at(),
          .head_bytes = layout.head_bytes(),
          .seen = seen,
          .softcap = args.softcap,
          .bias = bias,
          .slopes = args.slopes == nullptr ? nullptr : args.slopes + head,
          .position = piece.position + row,
          .key_positions = piece.key_positions.data(),
          .scores = scratch};
}

// Computes the tiles whose start on the axis of cost lies in [begin, end).
void AttendShare(const AttentionArgs& args, const Grain& grain, Kernel kernel,
                 int64_t begin, int64_t end, float* scratch) {
  Range seen[kAttentionRows];
  int64_t at = 0;  // where the piece begins
  for (const AttentionPiece& piece : args.pieces) {
    if (at >= end) return;
    const int64_t head_cost = Cost(args, piece, piece.rows);
    const int64_t next = at + head_cost * args.heads;
    if (next > begin) {
      const int row_step = grain.RowsOf(piece);
      const int head_step = grain.HeadsOf(piece);
      for (int head = 0; head < args.heads; head += head_step) {
        const int heads = std::min(head_step, args.heads - head);
        for (int row = 0; row < piece.rows; row += row_step) {
          const int64_t start = at + head_cost * head + Cost(args, piece, row);
          if (start < begin || start >= end) continue;
          kernel(TileOf(args, piece, head, heads, row,
                        std::min(row_step, piece.rows - row), seen, scratch));
        }
      }
    }
    at = next;
  }
}

}  // namespace

size_t AttentionScratchFloats() { return kAttentionFloats; }

void Attention(Compute& compute, const AttentionArgs& args) {
  CheckArgs(compute, args);
  const Kernel kernel = args.layout->paired
                            ? avx512::AttendPairs
                            : KernelFor(compute.isa(), baseline::AttendTile,
                                        avx2::AttendTile, avx512::AttendTile);
  const int64_t cost = CostOf(args);
  if (cost == 0) return;
  const int members = compute.team().size();
  const Grain grain = GrainOf(args, members);
  compute.team().Run([&](int member) {
    const absl::Span<float> scratch = compute.scratch(member);
    ATTEND_CHECK(scratch.size() >= AttentionScratchFloats());
    AttendShare(args, grain, kernel, cost * member / members,
                cost * (member + 1) / members, scratch.data());
  });
}

}  // namespace attend
