#ifndef ATTEND_ENGINE_TRANSFORMER_TRANSFORMER_H_
#define ATTEND_ENGINE_TRANSFORMER_TRANSFORMER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/compute.h"
#include "engine/layers/linear.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/listed_projection.h"
#include "engine/ops/logits/projection.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/decode_rows.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/head.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"
#include "engine/transformer/stack.h"
#include "engine/transformer/token_tables.h"

namespace attend {

// A transformer (Vaswani et al. 2017 and later work) that a spec describes: its
// weights, and the forward pass over ragged rows. Const after Load(). What a
// pass changes is in the caller's context, activations, buffers and blocks.
class Transformer {
 public:
  // Everything between matmuls is f32. Errors name the field that
  // spec.Validate() refuses, the tensor that is missing or has the wrong shape,
  // or the dtype that this machine has no instructions for.
  static absl::StatusOr<std::unique_ptr<Transformer>> Load(
      Compute& compute, const TransformerSpec& spec, Weights& weights,
      const LoadOptions& options);

  const TransformerSpec& spec() const { return spec_; }
  ComputeType dtype() const { return dtype_; }
  // That of the logits' matmul, which may have more bits.
  ComputeType logits_dtype() const {
    return logits_ ? logits_->dtype() : dtype_;
  }
  // Rows of the vocabulary projection; 0: no vocabulary projection.
  int vocab() const { return spec_.LogitsVocab(); }
  bool encodes() const { return encoder_.has_value(); }
  bool decodes() const { return decoder_.has_value(); }
  bool generates() const { return decodes() && spec_.generates; }
  // The widest vectors that embed() and head() read or write.
  int head_width() const;
  // The layout of one encoder layer's keys and values, for an EncodeBuffer:
  // pairs of bf16 if the machine has instructions for pairs and the dtype is
  // not f32, else f32. All functions about encodes need an encoder.
  const KvLayout& encoder_kv_layout() const { return encoder_kv_layout_; }
  // The layout of the keys and values of all decoder layers, the same for
  // target and source tokens: fours if the dtype is int8 and the machine has
  // instructions for fours. Needs a decoder.
  KvLayout decoder_kv_layout(KvType dtype) const;
  int encoder_query_width() const;  // of the layer with the widest queries
  // For the ExecContexts that the transformer computes on.
  const Primitives& primitives() const { return primitives_; }

  // Whether all stages of the encode are done.
  bool Encoded(const EncodeState& state) const {
    return state.stage() == encode_stages();
  }
  // The rest of an encode as a number of rows through all stages, rounded up.
  int EncodeRowsLeft(const EncodeState& state) const;
  // Advances each piece by piece.rows. Pieces in the same stage are computed
  // together. May sort `pieces`.
  absl::Status Encode(ExecContext& context, Activations& activations,
                      absl::Span<EncodePiece> pieces) const;

  // The layers after the encoder, or after a decoder that does not generate:
  // those of EmbedSpec, of each route, and those of HeadSpec. They read vectors
  // of PooledWidth() and of `hidden` numbers. All may be empty.
  const Head& embed(int route = 0) const { return embeds_[route]; }
  const Head& head() const { return head_; }
  // Those of SparseSpec and of TokenVectorsSpec, which read `hidden` numbers.
  const Head& sparse() const { return sparse_; }
  const Head& tokens() const { return tokens_; }
  // Answers `needs` [rows] about the masked-LM logits of `rows`, the output of
  // head(), in activations.logits().
  absl::Status MaskedLogits(ExecContext& context, Activations& activations,
                            Matrix rows,
                            absl::Span<const LogitsNeed> needs) const;

  // Takes the rows through all decoder layers; the results are in
  // activations.x(). INTERNAL: an error of oneDNN.
  absl::Status Decode(ExecContext& context, Activations& activations,
                      const DecodeRows& rows) const;
  // Answers `needs` about the raw logits of `rows`, which are indices of rows
  // of the last Decode(), in activations.logits(). Needs that list tokens are
  // only for a transformer that was loaded for them.
  absl::Status Logits(ExecContext& context, Activations& activations,
                      absl::Span<const int> rows,
                      absl::Span<const LogitsNeed> needs) const;

 private:
  Transformer(Compute& compute, const TransformerSpec& spec, ComputeType dtype);
  absl::Status LoadHeads(Weights& weights);
  absl::Status LoadTokenScore(Weights& weights);
  absl::Status LoadLogits(Weights& weights, TokenTables& tables,
                          const LoadOptions& options);
  // The answers to `needs` about the logits of `src`.
  absl::Status Project(ExecContext& context, const Operand& src,
                       absl::Span<const LogitsNeed> needs,
                       LogitsBuffer& dst) const;
  void CountStageCosts();

  int encode_stages() const { return static_cast<int>(stage_costs_.size()); }
  // Takes the share's pieces from stage to stage, until their rows are spent.
  absl::Status RunShare(EncodeShare& share) const;
  // Computes one stage of the rows that the share has taken.
  absl::Status RunStage(EncodeShare& share, int stage) const;
  LayerPass PassOf(EncodeShare& share, int layer) const;
  absl::Status ProjectStage(EncodeShare& share, int layer) const;
  absl::Status AttendStage(EncodeShare& share, int layer) const;
  absl::Status LastStage(EncodeShare& share) const;
  absl::Status StoreCrossKeysAndValues(EncodeShare& share) const;
  absl::Status Embed(EncodeShare& share) const;
  // Embeds for each row the token whose position is `offset` after the row's;
  // any where there is none. dst is [rows, hidden].
  absl::Status EmbedRows(EncodeShare& share, int offset, Matrix dst) const;
  // See ConvolutionSpec; x is the first layer's output, and becomes the result.
  absl::Status Convolve(EncodeShare& share) const;
  // Decode() for the rows of one share, on one context, in the room that the
  // share has.
  absl::Status DecodeShare(ExecContext& context, Activations& activations,
                           const DecodeRows& rows, Range room) const;

  Primitives primitives_;
  const TransformerSpec spec_;
  const ComputeType dtype_;
  const Isa isa_;
  const KvLayout encoder_kv_layout_;
  std::optional<Stack> encoder_;
  std::optional<Stack> decoder_;
  // See TransformerSpec::logits_projection.
  std::optional<Linear> logits_in_;
  std::optional<Norm> logits_in_norm_;
  std::optional<Projection> logits_;
  std::optional<ListedProjection> listed_logits_;  // LoadOptions::lists_tokens
  std::vector<Head> embeds_;                       // by route
  Head sparse_{{}};
  Head tokens_{{}};
  Head head_{{}};
  // Relative cost of a row in each encode stage, and their sum.
  std::vector<int64_t> stage_costs_;
  int64_t row_cost_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_TRANSFORMER_H_
