#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Consecutive rows of a step that see keys of the same blocks: rows of one
// hypothesis, or, in cross-attention, of several hypotheses of one source.
struct AttentionPiece {
  int first_row = 0;
  int rows = 0;
  // The blocks of the keys and values, in order. Block i holds tokens
  // [i * block_tokens, (i + 1) * block_tokens).
  absl::Span<std::byte* const> blocks;
  // The first row sees keys [0, keys). 0: its result is zeros.
  int keys = 0;
  // True: each further row sees one key more than the row before it.
  bool causal = false;
  // The key at which row 0 stands: row r has the position of key position + r.
  int position = 0;
  // The positions of the keys, ascending. Empty: key i has position i.
  absl::Span<const int> key_positions = {};
};

// Scaled dot-product attention (Vaswani et al. 2017, eq. 1) over keys and
// values in blocks, for all heads: dst = softmax(q k^T * scale) v. Sums are in
// f32; over pairs of bf16, queries and weights are rounded to bf16; over fours
// of int8, they are rounded to 16 bits, and sums are whole numbers. Query head
// h reads key head h / (heads / kv_heads). Encoder, prompt and decode rows are
// computed in the same way, with a running softmax over spans of keys (Dao et
// al. 2022): memory does not grow with the number of keys, and a row's bits
// depend on its own query and keys only.
struct AttentionArgs {
  const AttentionRules* rules = nullptr;
  const KvLayout* layout = nullptr;
  int layer = 0;
  int heads = 0;  // of queries
  // Row r's query of head h starts at query + r * query_stride + h * head_dim.
  const float* query = nullptr;
  int query_stride = 0;
  // The number that pieces give to row 0 of query and dst.
  int first_row = 0;
  absl::Span<const AttentionPiece> pieces;
  Matrix dst;  // [rows, heads * head_dim]
};
// A score that overflows becomes the largest or the smallest float; NaN becomes
// the smallest. Allocates nothing. The context's scratch must have at least
// AttentionScratchFloats() of the layout's heads.
void Attention(ExecContext& context, const AttentionArgs& args);
// Enough for all heads of at most `head_dim` numbers.
size_t AttentionScratchFloats(int head_dim);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_H_
