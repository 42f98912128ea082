#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/layers/adapters.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_weights.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/matrix.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/layer.h"

namespace attend {

// Takes some rows through one layer of an encoder or a decoder, in two halves:
// Project(), then Attend(). Attend() of a row needs Project() of all rows that
// the row sees.
class LayerPass {
 public:
  LayerPass(ExecContext& context, Activations& activations, const Layer& layer,
            const PassRows& rows, KvPlace place,
            const AdaptedRows& adapted = {})
      : context_(context),
        activations_(activations),
        layer_(layer),
        rows_(rows),
        place_(place),
        adapted_(adapted) {}

  // To be called before Project() if x is not the output of a layer in this
  // step, in the same room: layers leave the operand of x behind, others do
  // not.
  void MakeOperandOfX() const;
  // Computes queries, keys and values of x into the columns of qkv(), in this
  // order, and writes keys and values into blocks. x stays.
  absl::Status Project(const RowPlaces& places,
                       absl::Span<const KvWrite> writes) const;
  Matrix qkv() const;  // [rows, qkv_width], until Attend()

  // The keys that the rows see.
  struct Pieces {
    absl::Span<const AttentionPiece> self;
    absl::Span<const AttentionPiece> cross = {};  // beside an encoder
    // Rows whose cross-attention weights are wanted.
    absl::Span<const WeighedRow> weighed = {};
  };
  // Computes the rest of the layer: x becomes the layer's output. The first
  // columns of `query` are the queries of the rows.
  absl::Status Attend(Matrix query, const Pieces& pieces) const;

 private:
  // x = x + f(x), with the norms of the branch. Calls f(Matrix, Epilogue),
  // which computes the branch's output into the matrix.
  template <typename F>
  absl::Status AddBranch(const BranchNorms& norms, F f) const;
  // x = norm(x + of_sum(x + f(x))).
  template <typename F>
  absl::Status AddNormedSum(const BranchNorms& norms, F f) const;
  // The operand that the branch reads: x or norm(x), [rows, hidden].
  Operand SourceOf(const BranchNorms& norms) const;
  absl::Status AddSelfAttention(Matrix query,
                                absl::Span<const AttentionPiece> pieces) const;
  absl::Status AddCrossAttention(const Pieces& pieces) const;
  absl::Status AddFeedForward() const;
  absl::Status AddExperts(const MixtureOfExperts& experts) const;
  void AddToX(Matrix added) const;
  Attended AttendedOf(const HeadShape& shape) const {
    return activations_.attended(rows_.room, shape.query_width());
  }

  ExecContext& context_;
  Activations& activations_;
  const Layer& layer_;
  const PassRows rows_;
  const KvPlace place_;
  const AdaptedRows adapted_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_PASS_H_
