#ifndef ATTEND_ENGINE_TRANSFORMER_DECODE_ROWS_H_
#define ATTEND_ENGINE_TRANSFORMER_DECODE_ROWS_H_

#include "absl/types/span.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_weights.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/tensor/matrix.h"
#include "engine/transformer/activations.h"

namespace attend {

// Ragged decoder rows of a step. All lists are in the order of the rows. No row
// sees keys that a later row writes.
struct DecodeRows {
  const KvLayout* kv_layout = nullptr;  // of all blocks
  // The number that writes and pieces give to the row of ids[0].
  int first_row = 0;
  absl::Span<const int> ids;        // [rows]
  absl::Span<const int> positions;  // [rows]
  // See RotarySpec::LengthOf(); [rows], or empty without
  // StackSpec::RotaryByLength().
  absl::Span<const int> lengths = {};
  absl::Span<const KvWrite> writes;
  absl::Span<const AttentionPiece> self_pieces;
  absl::Span<const AttentionPiece> cross_pieces;
  // Rows for which the last layer's cross-attention weights are wanted. Of the
  // layers it is the one whose weights say best which words of the source a
  // token was made from.
  absl::Span<const WeighedRow> weighed = {};

  int size() const { return static_cast<int>(ids.size()); }
  // The rows in Activations::x().
  Range range() const { return {first_row, first_row + size()}; }
  // Whether every row is a hypothesis of its own: then no row reads what
  // another row of this step writes. Rows that are weighed are rows of known
  // targets.
  bool Independent() const {
    return self_pieces.size() == ids.size() && writes.size() == ids.size() &&
           weighed.empty();
  }
};

// The rows of one member, if all rows are Independent(). The hypotheses of one
// source stay together, so that the source's keys are read once. Without
// sources the rows may be divided anywhere.
DecodeRows ShareOf(const DecodeRows& rows, int member, int members);

// Rows [part.begin, part.end) of `rows`, counted from its first one. Pieces and
// writes that reach beyond are cut, in `lists`. If that is not all of the rows,
// there must be no cross_pieces.
DecodeRows PartOf(const DecodeRows& rows, Range part,
                  Activations::Lists& lists);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_DECODE_ROWS_H_
