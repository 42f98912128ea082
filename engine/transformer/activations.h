#ifndef ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_
#define ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_

#include <cstdint>
#include <vector>

#include "engine/layers/mixture_of_experts.h"
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

// The rows that go through a layer together: where they are in x(), and as many
// rows of the buffers of a layer.
struct PassRows {
  Range x;
  Range room;
};

// The buffers of one forward pass over up to `max_rows` ragged rows. All layers
// of all steps use the same buffers. Belongs to one worker.
//
// Hidden states, x(), are kept for all rows of a step. What a layer computes on
// its way from x to x is kept for room_rows() rows only, if a decoder has no
// encoder beside it: no row sees a later one, so the rows go through each layer
// some at a time.
//
// What is never needed at the same time has the same memory: writing one view
// of some rows loses others of these rows.
// * projected() and attended() are lost by inner(), and the other way round,
//   unless a layer is parallel (LayerSpec::parallel).
// * attended_operand, inner_operand() and logits_operand() are one.
// * if the dtype is not f32, normed() is lost by inner(), and by projected() as
//   inner() is: matmuls read its operand.
class Activations {
 public:
  // Of the matmuls, but that of the logits, and of that one.
  struct Types {
    ComputeType matmuls, logits;
  };
  // `members` is the size of the team.
  Activations(const TransformerSpec& spec, Types types, int max_rows,
              int members);

  // A lower bound of the bytes of Activations for `max_rows` rows; small
  // buffers are not counted.
  static uint64_t BytesFor(const TransformerSpec& spec, ComputeType dtype,
                           int max_rows);

  int max_rows() const { return max_rows_; }
  // At least min(max_rows, kMaxLogitsRows).
  int room_rows() const { return room_rows_; }

  // Rows [rows.begin, rows.end) of a buffer, [rows, cols], below max_rows() for
  // x and below room_rows() for all else. The place of a row does not depend on
  // `cols`: members that compute disjoint rows use disjoint memory.
  Matrix x(Range rows) { return x_.Of(rows, hidden_); }
  Matrix normed(Range rows) {
    return separate_normed_ ? normed_.Of(rows, hidden_)
                            : layer_.Of(rows, hidden_, places_.inner);
  }
  Matrix projected(Range rows, int cols) { return layer_.Of(rows, cols); }
  Attended attended(Range rows, int cols);
  Matrix inner(Range rows, int cols) {
    return layer_.Of(rows, cols, places_.inner);
  }
  // A matrix without memory unless the dtype is f32: the product of a matmul
  // whose operand alone is read (Epilogue::operand_only).
  Matrix inner_product(Range rows, int cols) {
    if (separate_normed_) return inner(rows, cols);
    return {nullptr, rows.end - rows.begin, cols};
  }
  // Memory of a convolution: the vectors that it reads for each row, [rows,
  // size * hidden], with their operand, which is inner_operand's memory; and
  // the vectors of one place, [rows, hidden].
  Attended taps(Range rows);
  Matrix tap(Range rows) { return taps_.Of(rows, hidden_, taps_width_); }
  LogitsBuffer& logits() { return logits_; }
  // For AdaptedRows: [rows, all ranks of the adapters].
  Matrix adapted(Range rows) { return adapted_.Of(rows, adapted_width_); }

  // Memory for the experts of some rows. It loses what inner() loses, but for
  // normed(). `member`: as of lists().
  ExpertRoom experts(Range rows, const MixtureOfExperts& experts, int member);

  // The operands of the same rows, for the next matmul. x and normed share one
  // operand: a layer with NormPlace::kPost reads x, one with kPre reads normed.
  Operand x_operand(const PassRows& rows) {
    return hidden_operand_.Of(x(rows.x), rows.room.begin);
  }
  Operand normed_operand(Range rows) {
    return hidden_operand_.Of(normed(rows), rows.begin);
  }
  Operand inner_operand(Range rows, int cols);
  // Of the logits' matmul, for up to kMaxLogitsRows rows.
  Operand logits_operand(Matrix rows);

  // Lists with at most one entry a row. Room is reserved. Each member has lists
  // of its own; who uses a list clears it first.
  struct Lists {
    std::vector<int> ids;
    std::vector<int> positions;
    std::vector<int> types;
    std::vector<int> adapters;
    std::vector<float> scales;  // with EmbeddingSpec::dropped_id
    std::vector<KvWrite> writes;
    std::vector<AttentionPiece> pieces;
  };
  Lists& lists(int member) { return lists_[member]; }

 private:
  // Where views begin in the memory of a layer: after so many floats for each
  // row of the view.
  struct Places {
    int attended = 0;
    int inner = 0;
    int gathered = 0;        // rows by expert, in f32
    int expert_outputs = 0;  // and, before them, scores
    int width = 0;           // floats of a row, for all views
  };
  static Places PlacesIn(const TransformerSpec& spec, ComputeType dtype);
  static int RoomRows(const TransformerSpec& spec, int max_rows, int members);

  // [max_rows, width] floats.
  class Rows {
   public:
    Rows(int max_rows, int width);
    // Rows [rows.begin, rows.end) as [rows, cols], in the part of the memory of
    // these rows that begins after `place` floats for each of them.
    Matrix Of(Range rows, int cols, int place = 0);

   private:
    int max_rows_;
    int width_;
    Buffer<float> memory_;
  };

  int hidden_;
  int max_rows_;
  int room_rows_;
  bool separate_normed_;  // in f32 the operand of `normed` is `normed`
  bool separate_logits_;  // their dtype is another
  int adapted_width_;
  Places places_;
  int taps_width_;       // numbers that a convolution reads of a row
  Rows x_;               // [max_rows, hidden]
  Rows normed_;          // [room_rows, hidden], or nothing
  Rows layer_;           // projected, attended, inner: [room_rows, width]
  Rows adapted_;         // [room_rows, adapted_width]
  Rows taps_;            // [room_rows, taps_width + hidden], or nothing
  LogitsBuffer logits_;  // up to kMaxLogitsRows
  OperandBuffer hidden_operand_;
  OperandBuffer inner_operand_;
  OperandBuffer logits_operand_;
  OperandBuffer gathered_operand_;      // of the rows that experts read
  std::vector<Lists> lists_;            // [members]
  std::vector<ExpertChoices> choices_;  // [members]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ACTIVATIONS_H_
