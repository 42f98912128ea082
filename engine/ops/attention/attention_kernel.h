#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_

#include <cstddef>

#include "engine/compute/team.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/kv_layout.h"

namespace attend {

// Heads (of one row) that a kernel computes at once.
inline constexpr int kAttentionHeads = 8;
// Query rows of one call: keys and values come from memory once for all of
// them. With fewer the memory is waited for; with more, rows and a chunk of
// usual heads do not fit the second cache level. A multiple of what kernels
// take at once.
inline constexpr int kAttentionRows = 264;
// Keys whose scores exist at once. Chunks begin at multiples of it. A chunk of
// keys and values of a usual head, and the scores, fit the second cache level.
inline constexpr int kAttentionChunk = 512;
// Numbers of the queries, and of their results, that may lie side by side for a
// call.
inline constexpr int kAttentionGathered = 4096;
// Rows, or heads, whose scores exist at once, and the scratch for them.
inline constexpr int kAttentionScored = 12;
inline constexpr size_t kAttentionFloats =
    static_cast<size_t>(kAttentionScored) * kAttentionChunk;
static_assert(kAttentionHeads <= kAttentionScored);
// Calls of so many rows make floats of a chunk's narrow keys and values first,
// if heads are no larger; the scratch for them and the scales.
inline constexpr int kAttentionUnpackedRows = 32;
inline constexpr int kAttentionUnpackedDim = 256;
inline constexpr size_t kAttentionUnpackedFloats =
    size_t{2} * kAttentionChunk * (kAttentionUnpackedDim + 1);

// What one call of an attention kernel computes: queries that read one key head
// (rows of one head, or of `group` heads in turns), or one row of consecutive
// heads.
struct AttentionTile {
  const AttentionRules* rules = nullptr;
  const KvLayout* layout = nullptr;
  // Row r of head h: query + r * query_stride + h * head_dim; likewise dst.
  const float* query = nullptr;
  int query_stride = 0;
  float* dst = nullptr;
  int dst_stride = 0;
  int rows = 0;   // in [1, kAttentionRows]
  int heads = 0;  // in [1, kAttentionHeads]; 1 if there are several rows
  // Head h reads key head (first_head + h) / heads_per_kv_head.
  int first_head = 0;
  int heads_per_kv_head = 1;
  // Row r stands for head (first_in_group + r) % group of query row
  // (first_in_group + r) / group.
  int group = 1;
  int first_in_group = 0;  // in [0, group)
  const std::byte* const* blocks = nullptr;
  size_t layer_at = 0;  // bytes from a block's start to the layer
  // Of the layout: bytes from a head's start.
  size_t values_at = 0;
  size_t scales_at = 0;
  size_t head_bytes = 0;
  // [rows], the keys that each sees; neither begin nor end ever falls.
  const Range* seen = nullptr;
  // As of AttentionPiece, of the first query row; null: 0, 1, 2, ...
  int position = 0;
  const int* key_positions = nullptr;
  float* scores = nullptr;  // kAttentionFloats of scratch
  // kAttentionUnpackedFloats of scratch; null: keys and values are f32, or are
  // used as they are.
  float* unpacked = nullptr;

  int HeadOf(int row) const { return (first_in_group + row) % group; }
  int QueryRowOf(int row) const { return (first_in_group + row) / group; }
  // Of the row'th of those that exist at once.
  float* RowScores(int row) const { return scores + row * kAttentionChunk; }
};

namespace baseline {
void AttendTile(const AttentionTile& args);
}
namespace avx2 {
void AttendTile(const AttentionTile& args);
}
namespace avx512 {
void AttendTile(const AttentionTile& args);
// For a paired layout, where all rows see keys from the first on, equally many;
// needs bf16 instructions.
void AttendPairs(const AttentionTile& args);
}  // namespace avx512

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_
