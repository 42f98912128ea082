#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/compute/team.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/kv_layout.h"

namespace attend {

// The most heads of one row that a call computes.
inline constexpr int kAttentionHeads = 8;
// The most query rows of one call, for which keys and values come from memory
// once. With fewer rows the kernel would wait for memory; with more, the rows
// and a span of a usual head would not fit L2. A multiple of the rows that
// kernels compute together (8, 12 or 16).
inline constexpr int kAttentionRows = 288;
// Keys of a span: scores of this many keys are in memory at once. Spans begin
// at multiples of kAttentionSpan. Keys and values of a span of a usual head,
// and the scores, fit L2.
inline constexpr int kAttentionSpan = 512;
// The most numbers of queries, and of results, that are copied side by side for
// a call.
inline constexpr int kAttentionGathered = 4096;
// Rows, or heads, whose scores are in memory at once, and the scratch for them.
inline constexpr int kAttentionScored = 16;
inline constexpr size_t kAttentionFloats =
    static_cast<size_t>(kAttentionScored) * kAttentionSpan;
static_assert(kAttentionHeads <= kAttentionScored);
// Calls with at least this many rows first convert a span's bf16 or int8 keys
// and values to floats, if head_dim is at most kAttentionUnpackedDim; with
// fours, those by tiles copy values. And the scratch for these floats and the
// scales if heads are that wide.
inline constexpr int kAttentionUnpackedRows = 32;
inline constexpr int kAttentionUnpackedDim = 256;
inline constexpr size_t kAttentionUnpackedFloats =
    size_t{2} * kAttentionSpan * (kAttentionUnpackedDim + 1);

// Blocks that are read next.
struct NextBlocks {
  absl::Span<const std::byte* const> blocks = {};
  int last_keys = 0;  // what is read of the last block
};

// What one call of an attention kernel computes:
// * queries that read one key head: rows of one head, or of `group` heads, head
//   by head within a query row;
// * or one query row of consecutive heads.
struct AttentionTile {
  const AttentionRules* rules = nullptr;
  const KvLayout* layout = nullptr;
  // Row r of head h is at query + r * query_stride + h * head_dim; likewise
  // dst.
  const float* query = nullptr;
  int query_stride = 0;
  float* dst = nullptr;
  int dst_stride = 0;
  int rows = 0;   // in [1, kAttentionRows]
  int heads = 0;  // in [1, kAttentionHeads]; 1 if there are several rows
  // Head h reads key head (first_head + h) / heads_per_kv_head.
  int first_head = 0;
  int heads_per_kv_head = 1;
  // Row r is head (first_in_group + r) % group of query row
  // (first_in_group + r) / group.
  int group = 1;
  int first_in_group = 0;  // in [0, group)
  const std::byte* const* blocks = nullptr;
  // What a call for one row prefetches: the first blocks of the next row.
  NextBlocks next;
  size_t layer_at = 0;  // bytes from a block's start to the layer
  // Bytes from a head's start, see KvLayout.
  size_t values_at = 0;
  size_t scales_at = 0;
  size_t head_bytes = 0;
  // [rows]: the keys that each row sees. Begins and ends ascend.
  const Range* seen = nullptr;
  // See AttentionPiece; of the first query row. Null: key i has position i.
  int position = 0;
  const int* key_positions = nullptr;
  float* scores = nullptr;  // kAttentionFloats of scratch
  // kAttentionUnpackedFloats of scratch for keys and values as floats, or for
  // values as tiles read them; null: they are used as they are.
  float* unpacked = nullptr;

  int HeadOf(int row) const { return (first_in_group + row) % group; }
  int QueryRowOf(int row) const { return (first_in_group + row) / group; }
  // The scores of the row'th of the rows whose scores are in memory.
  float* RowScores(int row) const { return scores + row * kAttentionSpan; }
};

namespace baseline {
void AttendTile(const AttentionTile& args);
}
namespace avx2 {
void AttendTile(const AttentionTile& args);
}
namespace avx512 {
void AttendTile(const AttentionTile& args);
// For a layout with fours of int8. Needs VNNI instructions.
void AttendFours(const AttentionTile& args);
// The same with AMX, for a head_dim that is a multiple of kTiledFoursDim.
inline constexpr int kTiledFoursDim = 64;
void AttendFoursByTiles(const AttentionTile& args);
// For a layout with pairs of bf16. All rows must see the same keys, from key 0
// on. Needs bf16 instructions.
void AttendPairs(const AttentionTile& args);
// The same with AMX, for a head_dim that is a multiple of kTiledDim.
inline constexpr int kTiledDim = 32;
void AttendTiles(const AttentionTile& args);
}  // namespace avx512

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_KERNEL_H_
