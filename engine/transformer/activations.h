#ifndef ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_
#define ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_

#include <cstdint>
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

// The buffers of one forward pass over up to `max_rows` ragged rows. All layers
// of all steps use the same buffers. Belongs to one worker.
class Activations {
 public:
  // `dtype` is that of the model's matmuls. `members` is the size of the team.
  Activations(const TransformerSpec& spec, ComputeType dtype, int max_rows,
              int members);

  // A lower bound of the bytes of Activations for `max_rows` rows; small
  // buffers are not counted.
  static uint64_t BytesFor(const TransformerSpec& spec, ComputeType dtype,
                           int max_rows);

  int max_rows() const { return max_rows_; }

  // Rows [rows.begin, rows.end) of a buffer, [rows, cols]. The place of a row
  // does not depend on `cols`: members that compute disjoint rows use disjoint
  // memory.
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

  // The operands of the same rows, for the next matmul. x and normed share one
  // operand: a layer with NormPlace::kPost reads x, one with kPre reads normed.
  Operand x_operand(Range rows) {
    return hidden_operand_.Of(x(rows), rows.begin);
  }
  Operand normed_operand(Range rows) {
    return hidden_operand_.Of(normed(rows), rows.begin);
  }
  Operand inner_operand(Range rows, int cols) {
    return inner_operand_.Of(inner(rows, cols), rows.begin);
  }

  // Lists with at most one entry a row. Room is reserved. Each member has lists
  // of its own; who uses a list clears it first.
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
