#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/matrix.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/layer.h"

namespace attend {

// Rows that go through a layer, an encoder's or a decoder's, in two halves:
// the second needs the first of all rows that its attention sees.
class LayerPass {
 public:
  // Rows of the activations.
  LayerPass(ExecContext& context, Activations& activations, const Layer& layer,
            Range rows, KvPlace place)
      : context_(context),
        activations_(activations),
        layer_(layer),
        rows_(rows),
        place_(place) {}

  // To be called first of an x that another layer has not left.
  void TakeNewX() const;
  // Queries, keys and values of x: those go to the columns of qkv() in this
  // order, the latter into blocks, too. x stays.
  absl::Status Project(const RowPlaces& places,
                       absl::Span<const KvWrite> writes) const;
  Matrix qkv() const;  // [rows, qkv_width], until the second half

  // What the rows attend to.
  struct Pieces {
    absl::Span<const AttentionPiece> self;
    absl::Span<const AttentionPiece> cross = {};  // decoders'
  };
  // Everything else; `query` begins with the rows' queries. x becomes the
  // layer's output.
  absl::Status Attend(Matrix query, const Pieces& pieces) const;

 private:
  // x + f(x) with its norms; `f` computes into a matrix with an epilogue.
  template <typename F>
  absl::Status AddBranch(const BranchNorms& norms, F f) const;
  // What the branch reads, [rows, hidden].
  Operand SourceOf(const BranchNorms& norms) const;
  absl::Status AddSelfAttention(Matrix query,
                                absl::Span<const AttentionPiece> pieces) const;
  absl::Status AddCrossAttention(absl::Span<const AttentionPiece> pieces) const;
  absl::Status AddFeedForward() const;
  void AddToX(Matrix added) const;
  Attended AttendedOf(const HeadShape& shape) const {
    return activations_.attended(rows_, shape.query_width());
  }

  ExecContext& context_;
  Activations& activations_;
  const Layer& layer_;
  const Range rows_;
  const KvPlace place_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_
