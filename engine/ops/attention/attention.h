#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Consecutive rows of one hypothesis (or of several that see the same keys)
// inside the ragged rows of a step.
struct AttentionPiece {
  int first_row = 0;
  int rows = 0;
  // Blocks that hold the keys, in order; block i holds tokens
  // [i * block_tokens, (i + 1) * block_tokens).
  absl::Span<std::byte* const> blocks;
  // Keys that the first row sees: [0, keys). 0 gives a row of zeros.
  int keys = 0;
  // Each further row sees one key more than the row before it (causal).
  bool causal = false;
  // Where distances count: row r stands where key position + r does.
  int position = 0;
  // The positions of the keys, ascending, where tokens of the input left no
  // key; row r's is key_positions[position + r]. Empty: 0, 1, 2, ...
  absl::Span<const int> key_positions = {};
};

// Scaled dot-product attention (Vaswani et al. 2017, eq. 1) over keys and
// values in blocks, for all heads: dst = softmax(q k^T * scale) v with the
// maximum subtracted, all sums in f32. Grouped heads: query head h reads key
// head h / (heads / kv_heads). One recurrence for encoder, prompt and decode
// rows, with a running softmax over chunks of keys (Dao et al. 2022), so that
// memory does not grow with the keys: a row's bits depend on its own query and
// keys only.
struct AttentionArgs {
  const AttentionRules* rules = nullptr;
  const KvLayout* layout = nullptr;
  int layer = 0;
  int heads = 0;  // of queries
  // Row r's query of head h starts at query + r * query_stride + h * head_dim.
  const float* query = nullptr;
  int query_stride = 0;
  // The row of the step, as pieces count them, that query and dst begin with.
  int first_row = 0;
  absl::Span<const AttentionPiece> pieces;
  Matrix dst;  // [rows, heads * head_dim]
};
// A score that overflows counts as the largest or smallest float, NaN as the
// smallest. Allocates nothing; the context's scratch must hold
// AttentionScratchFloats().
void Attention(ExecContext& context, const AttentionArgs& args);
size_t AttentionScratchFloats();

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_
