#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_SHARE_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_SHARE_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
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
  // Where the last stage writes keys and values for the decoder, of rows from
  // the first; the pieces of one call have the same layout. Empty: nowhere.
  absl::Span<std::byte* const> cross_blocks;
  const KvLayout* cross_layout = nullptr;
  // How far to go, in rows of all stages: a source of n rows ends after n.
  int rows = 0;

  // Working state of Encode(): the share that computes it, cost that may still
  // be spent, and rows of the stage at hand, from state->row() on.
  int share = 0;
  int64_t budget = 0;
  int stage_rows = 0;
};

// Gives each piece a share, so that all have about the same rows, and sorts the
// pieces by share. False, and then the order says nothing, if they are too few
// or too unlike each other for the shares to end together.
bool SplitIntoShares(absl::Span<EncodePiece> pieces, int shares);
// The pieces of one of them.
absl::Span<EncodePiece> PiecesOf(absl::Span<EncodePiece> pieces, int share);

// Pieces that one context takes from stage to stage, and the rows of the
// activations that are theirs meanwhile.
class EncodeShare {
 public:
  // `room` is of the activations; it must not be empty.
  EncodeShare(ExecContext& context, Activations& activations,
              absl::Span<EncodePiece> pieces, Range room);

  ExecContext& context() { return context_; }
  Activations& activations() { return activations_; }
  const KvLayout* cross_layout() const { return pieces_.front().cross_layout; }
  // Whether all pieces go from the first stage to the last, and fit into the
  // room together: then hidden states and queries stay in the activations.
  bool whole() const { return whole_; }

  // Chooses rows that stand in `stage`, of which each costs `cost`; false if
  // there are none left. The functions below are about these rows.
  bool TakeRows(int stage, int64_t cost);
  // Counts them as done.
  void Advance();

  // Where they are in the activations.
  Range rows() const { return rows_; }
  // Calls visit(state, source_row, i) for the i-th of the rows, shared among
  // the team.
  void ForEachRow(
      absl::FunctionRef<void(const EncodeState&, int source_row, int i)> visit);
  // Between the states and the activations.
  void LoadHidden();
  void StoreHidden();
  // Where each row stands in its input. Valid until the next call.
  absl::Span<const int> Positions();
  // Where keys and values of the rows go, and what the rows attend to: all of
  // their source. Rows are counted from rows().begin. Valid until the next
  // call of the same.
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
