#include "engine/ops/attention.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/ops/attention_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

constexpr int kTile = KvLayout::kBlockTokens;
// Floats below which waking the team costs more than it saves.
constexpr int kSmallWrite = 1 << 14;

using Kernel = void (*)(const AttentionRows&);

Kernel KernelFor(Isa isa) {
  if (isa >= Isa::kAvx512) return avx512::AttendRows;
  if (isa >= Isa::kAvx2) return avx2::AttendRows;
  return baseline::AttendRows;
}

int RoundUpToTile(int tokens) { return (tokens + kTile - 1) / kTile * kTile; }

// Floats of the key tile of one layer and head; as many in its value tile.
size_t TileFloats(const KvLayout& layout) {
  return static_cast<size_t>(layout.head_dim) * kTile;
}

// Floats from a block's start to the key tile of a layer and head; its value
// tile follows.
size_t TileOffset(const KvLayout& layout, int layer, int kv_head) {
  return (static_cast<size_t>(layer) * layout.kv_heads + kv_head) * 2 *
         TileFloats(layout);
}

// Keys that row `row` of a piece sees.
int KeysOf(const AttentionPiece& piece, int row) {
  return piece.keys + (piece.causal ? row : 0);
}

// What rows [row, row + rows) of one head cost, in keys read by a query; the
// constant is what a call costs besides.
int64_t Cost(const AttentionPiece& piece, int row, int rows) {
  return 32 + static_cast<int64_t>(rows) * (8 + KeysOf(piece, row + rows - 1));
}

int RowsAt(const AttentionPiece& piece, int row) {
  return std::min(kAttentionRows, piece.rows - row);
}

int64_t CostOfHead(const AttentionPiece& piece) {
  int64_t cost = 0;
  for (int row = 0; row < piece.rows; row += kAttentionRows) {
    cost += Cost(piece, row, RowsAt(piece, row));
  }
  return cost;
}

void CheckArgs(const AttentionArgs& args) {
  const KvLayout& layout = *args.layout;
  ATTEND_CHECK(layout.block_tokens == kTile);
  ATTEND_CHECK(0 <= args.layer && args.layer < layout.layers);
  ATTEND_CHECK(args.heads % layout.kv_heads == 0);
  ATTEND_CHECK(args.dst.cols == args.heads * layout.head_dim);
  for (const AttentionPiece& piece : args.pieces) {
    ATTEND_CHECK(piece.rows > 0 && piece.first_row >= 0 && piece.keys >= 0);
    ATTEND_CHECK(piece.first_row + piece.rows <= args.dst.rows);
    ATTEND_CHECK(static_cast<size_t>(RoundUpToTile(KeysOf(
                     piece, piece.rows - 1))) <= piece.blocks.size() * kTile);
  }
}

AttentionRows RowsOf(const AttentionArgs& args, const AttentionPiece& piece,
                     int head, int row, absl::Span<float> scratch) {
  const KvLayout& layout = *args.layout;
  const int kv_head = head / (args.heads / layout.kv_heads);
  const size_t keys_at = TileOffset(layout, args.layer, kv_head);
  const int first_row = piece.first_row + row;
  AttentionRows rows;
  rows.query = args.query + static_cast<size_t>(first_row) * args.query_stride +
               static_cast<size_t>(head) * layout.head_dim;
  rows.query_stride = args.query_stride;
  rows.rows = RowsAt(piece, row);
  rows.head_dim = layout.head_dim;
  rows.scale = args.scale;
  rows.blocks = piece.blocks.data();
  rows.key_offset = keys_at * sizeof(float);
  rows.value_offset = (keys_at + TileFloats(layout)) * sizeof(float);
  rows.keys = KeysOf(piece, row);
  rows.more_keys = piece.causal ? 1 : 0;
  rows.scores = scratch.data();
  rows.score_stride = RoundUpToTile(KeysOf(piece, row + rows.rows - 1));
  rows.dst =
      args.dst.row(first_row) + static_cast<size_t>(head) * layout.head_dim;
  rows.dst_stride = args.dst.cols;
  ATTEND_CHECK(static_cast<size_t>(rows.rows) * rows.score_stride <=
               scratch.size());
  return rows;
}

// Computes the items (piece, head, rows) whose start on the axis of cost lies
// in [begin, end).
void AttendShare(const AttentionArgs& args, Kernel kernel, int64_t begin,
                 int64_t end, absl::Span<float> scratch) {
  int64_t at = 0;
  for (const AttentionPiece& piece : args.pieces) {
    const int64_t head_cost = CostOfHead(piece);
    for (int head = 0; head < args.heads; ++head, at += head_cost) {
      if (at >= end) return;
      if (at + head_cost <= begin) continue;
      int64_t start = at;
      for (int row = 0; row < piece.rows; row += kAttentionRows) {
        if (start >= begin && start < end) {
          kernel(RowsOf(args, piece, head, row, scratch));
        }
        start += Cost(piece, row, RowsAt(piece, row));
      }
    }
  }
}

// Stores one head's keys and values of rows [0, rows) of the step, which
// become tokens from `token` on of one hypothesis.
void WriteHead(const WriteKvArgs& args, const KvWrite& write, int kv_head) {
  const KvLayout& layout = *args.layout;
  const int head_dim = layout.head_dim;
  const size_t offset = TileOffset(layout, args.layer, kv_head);
  const size_t column = static_cast<size_t>(kv_head) * head_dim;
  for (int i = 0; i < write.rows; ++i) {
    const int token = write.first_token + i;
    const int slot = token % kTile;
    float* const keys =
        reinterpret_cast<float*>(write.blocks[token / kTile]) + offset;
    float* const values = keys + TileFloats(layout);
    const size_t from =
        static_cast<size_t>(write.first_row + i) * args.stride + column;
    for (int d = 0; d < head_dim; ++d) {
      keys[d * kTile + slot] = args.key[from + d];
    }
    std::memcpy(values + slot * head_dim, args.value + from,
                head_dim * sizeof(float));
  }
}

}  // namespace

size_t AttentionScratchFloats(int max_keys) {
  return static_cast<size_t>(kAttentionRows) * RoundUpToTile(max_keys);
}

void Attention(Compute& compute, const AttentionArgs& args) {
  CheckArgs(args);
  const Kernel kernel = KernelFor(compute.isa());
  int64_t cost = 0;
  for (const AttentionPiece& piece : args.pieces) {
    cost += CostOfHead(piece) * args.heads;
  }
  if (cost == 0) return;
  const int members = compute.team().size();
  compute.team().Run([&](int member) {
    AttendShare(args, kernel, cost * member / members,
                cost * (member + 1) / members, compute.scratch(member));
  });
}

void WriteKv(Compute& compute, const WriteKvArgs& args) {
  const KvLayout& layout = *args.layout;
  ATTEND_CHECK(layout.block_tokens == kTile);
  ATTEND_CHECK(0 <= args.layer && args.layer < layout.layers);
  int rows = 0;
  for (const KvWrite& write : args.writes) {
    ATTEND_CHECK(write.rows >= 0 && write.first_token >= 0);
    ATTEND_CHECK(static_cast<size_t>(write.first_token + write.rows) <=
                 write.blocks.size() * kTile);
    rows += write.rows;
  }
  const int items = static_cast<int>(args.writes.size()) * layout.kv_heads;
  const auto write_items = [&](Range range) {
    for (int i = range.begin; i < range.end; ++i) {
      WriteHead(args, args.writes[i / layout.kv_heads], i % layout.kv_heads);
    }
  };
  if (rows * layout.kv_heads * layout.head_dim < kSmallWrite) {
    write_items({0, items});
    return;
  }
  const int members = compute.team().size();
  compute.team().Run(
      [&](int member) { write_items(Share(items, member, members)); });
}

size_t CopyKv(const KvLayout& layout, const std::byte* from, int tokens,
              std::byte* to) {
  ATTEND_CHECK(0 <= tokens && tokens <= kTile);
  const int tiles = layout.layers * layout.kv_heads;
  const float* source = reinterpret_cast<const float*>(from);
  float* target = reinterpret_cast<float*>(to);
  for (int tile = 0; tile < tiles; ++tile) {
    for (int d = 0; d < layout.head_dim; ++d) {
      std::copy_n(source + d * kTile, tokens, target + d * kTile);
    }
    source += TileFloats(layout);
    target += TileFloats(layout);
    std::copy_n(source, tokens * layout.head_dim, target);
    source += TileFloats(layout);
    target += TileFloats(layout);
  }
  return static_cast<size_t>(tiles) * 2 * layout.head_dim * tokens *
         sizeof(float);
}

}  // namespace attend
