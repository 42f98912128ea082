#ifndef ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_
#define ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_

#include <vector>

#include "engine/layers/multi_head_attention.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/transformer/spec.h"

namespace attend {

// Rows whose logits are computed at once: enough for the matmul to run at full
// speed.
inline constexpr int kMaxLogitsRows = 128;

// The buffers of one forward pass over up to `max_rows` ragged rows, reused by
// every layer of every step. One worker's.
class Activations {
 public:
  // `dtype` is that of the model's matmuls; `members` of the team may compute
  // side by side.
  Activations(const TransformerSpec& spec, ComputeType dtype, int max_rows,
              int members);

  int max_rows() const { return max_rows_; }

  // Rows [rows.begin, rows.end) of each buffer, with the asked width. Where
  // they lie depends on rows.begin and not on the width, so that passes over
  // disjoint rows do not meet.
  Matrix x(Range rows) { return View(x_, rows, hidden_); }
  Matrix normed(Range rows) { return View(normed_, rows, hidden_); }
  Matrix projected(Range rows, int cols) {
    return View(projected_, rows, cols);
  }
  Attended attended(Range rows, int cols) {
    const Matrix heads = View(attended_, rows, cols);
    return {.rows = heads, .operand = attended_operand_.Of(heads, rows.begin)};
  }
  Matrix inner(Range rows, int cols) { return View(inner_, rows, cols); }
  LogitsBuffer& logits() { return logits_; }

  // The same as the source of a matmul. x and normed share one: a layer reads
  // x where norms come after the sum, else normed.
  Operand x_operand(Range rows) {
    return hidden_operand_.Of(x(rows), rows.begin);
  }
  Operand normed_operand(Range rows) {
    return hidden_operand_.Of(normed(rows), rows.begin);
  }
  Operand inner_operand(Range rows, int cols) {
    return inner_operand_.Of(inner(rows, cols), rows.begin);
  }

  // Lists of one entry a row or less; reserved, so that filling them allocates
  // nothing. Each member has its own; whoever uses one clears it first.
  struct Lists {
    std::vector<int> ids;
    std::vector<int> positions;
    std::vector<int> types;
    std::vector<KvWrite> writes;
    std::vector<AttentionPiece> pieces;
  };
  Lists& lists(int member) { return lists_[member]; }

 private:
  Matrix View(Buffer<float>& buffer, Range rows, int cols);

  int hidden_;
  int max_rows_;
  Buffer<float> x_;          // [max_rows, hidden]
  Buffer<float> normed_;     // [max_rows, hidden]
  Buffer<float> projected_;  // [max_rows, widest of q + k + v]
  Buffer<float> attended_;   // [max_rows, widest of heads * head_dim]
  Buffer<float> inner_;      // [max_rows, widest between other layers]
  LogitsBuffer logits_;      // up to kMaxLogitsRows
  OperandBuffer hidden_operand_;
  OperandBuffer attended_operand_;
  OperandBuffer inner_operand_;
  std::vector<Lists> lists_;  // [members]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_
