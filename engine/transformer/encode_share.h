#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_SHARE_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_SHARE_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/layers/adapters.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/matrix.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/encode_state.h"

namespace attend {

// A piece of an encode in a step.
struct EncodePiece {
  EncodeState* state = nullptr;
  // The blocks of the source's keys and values for cross-attention, which the
  // last stage writes; empty: there is no decoder. All pieces of a call have
  // the same layout.
  absl::Span<std::byte* const> cross_blocks;
  const KvLayout* cross_layout = nullptr;
  // The amount of work, as a number of rows through all stages: a source of n
  // rows is n rows of work.
  int rows = 0;

  // Working state of Encode(): the share of this piece, the cost that is left
  // of `rows`, and the number of rows, from state->row() on, that are computed
  // in the stage at hand.
  int share = 0;
  int64_t budget = 0;
  int stage_rows = 0;
};

// Distributes the pieces over shares of about equal rows, and sorts the pieces
// by share. Returns false, with the pieces in any order, if there are too few
// rows, or if the largest share would be much larger than the average.
bool SplitIntoShares(absl::Span<EncodePiece> pieces, int shares);
// The pieces of share number `share`, after SplitIntoShares().
absl::Span<EncodePiece> PiecesOf(absl::Span<EncodePiece> pieces, int share);

// The pieces that one context takes from stage to stage: all pieces of a step,
// on the whole team, or the share of one member.
class EncodeShare {
 public:
  // `room`: the rows of the activations that the share uses; not empty.
  EncodeShare(ExecContext& context, Activations& activations,
              absl::Span<EncodePiece> pieces, Range room);

  ExecContext& context() { return context_; }
  Activations& activations() { return activations_; }
  const KvLayout* cross_layout() const { return pieces_.front().cross_layout; }
  // Whether all pieces are whole sources, from the first stage to the last, and
  // fit into the room together. Then hidden states and queries stay in the
  // activations between stages.
  bool whole() const { return whole_; }

  // Chooses the rows to compute next in `stage`, where a row costs `cost`.
  // False if no row is left in this stage. All functions below are about the
  // chosen rows.
  bool TakeRows(int stage, int64_t cost);
  // Marks the rows as done in this stage.
  void Advance();

  // The place of the rows in the activations.
  Range rows() const { return rows_; }
  // Calls visit(state, source_row, i) for each row: row rows().begin + i is row
  // source_row of the source of `state`. The members of the team divide the
  // rows.
  void ForEachRow(
      absl::FunctionRef<void(const EncodeState&, int source_row, int i)> visit);
  // Copy hidden states from the encode buffer to activations().x(), and back.
  void LoadHidden();
  void StoreHidden();
  // The position of each row in its input. Valid until the next call.
  absl::Span<const int> Positions();
  // The adapters of the rows. Valid until the next call.
  AdaptedRows Adapted();
  // The factor of each row's token: see EmbeddingSpec::dropped_id. Empty if
  // that is -1. Valid until the next call.
  absl::Span<const float> Scales(int dropped_id);
  // The writes of keys and values to the encode buffer and to the blocks of
  // cross-attention, and the pieces of attention, in which each row sees all of
  // its source. Row number 0 is rows().begin. A result is valid until the same
  // function is called again; both kinds of writes use one list.
  absl::Span<const KvWrite> EncoderWrites();
  absl::Span<const KvWrite> CrossWrites();
  absl::Span<const AttentionPiece> AllKeys();

 private:
  absl::Span<const KvWrite> Writes(bool for_decoder);

  ExecContext& context_;
  Activations& activations_;
  absl::Span<EncodePiece> pieces_;
  Range room_;
  bool whole_ = false;
  Range rows_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ENCODE_SHARE_H_
