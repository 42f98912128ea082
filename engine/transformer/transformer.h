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
#include "engine/ops/logits/projection.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/head.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/spec.h"
#include "engine/transformer/stack.h"
#include "engine/transformer/token_tables.h"

namespace attend {

// Ragged decoder rows of a step, all lists in the order of the rows.
struct DecodeRows {
  const KvLayout* kv_layout = nullptr;  // of all blocks
  int first_row = 0;  // as the lists count them, the row that ids begin with
  absl::Span<const int> ids;        // [rows]
  absl::Span<const int> positions;  // [rows]
  // See RotarySpec::LengthOf(); [rows], or empty where nothing is by length.
  absl::Span<const int> lengths = {};
  absl::Span<const KvWrite> writes;
  absl::Span<const AttentionPiece> self_pieces;
  absl::Span<const AttentionPiece> cross_pieces;
};

// A transformer described by a spec (Vaswani et al. 2017 and what came after):
// weights and the forward pass over ragged rows. Const after Load(); what
// changes is in the caller's context, activations, buffers and blocks.
class Transformer {
 public:
  // `dtype` is that of all matmuls; what lies between them is f32. Rows of one
  // pass: at most max_rows. Errors name the field that spec.Validate() refuses,
  // the tensor that is missing or has the wrong shape, or the dtype that this
  // machine has no instructions for.
  static absl::StatusOr<std::unique_ptr<Transformer>> Load(
      Compute& compute, const TransformerSpec& spec, Weights& weights,
      ComputeType dtype, int max_rows);

  const TransformerSpec& spec() const { return spec_; }
  ComputeType dtype() const { return dtype_; }
  // Of the vocabulary projection; 0: there is none.
  int vocab() const { return spec_.LogitsVocab(); }
  bool encodes() const { return encoder_.has_value(); }
  bool generates() const { return decoder_.has_value(); }
  // The widest vectors that embed() and head() read or write.
  int head_width() const;
  // Keys and values of one encoder layer, for an EncodeBuffer: in pairs of bf16
  // where the machine multiplies them and the matmuls are no more exact. There
  // must be an encoder, as for what follows about it.
  const KvLayout& encoder_kv_layout() const { return encoder_kv_layout_; }
  // Keys and values of all decoder layers, of target and source tokens alike;
  // there must be a decoder.
  KvLayout decoder_kv_layout(KvType dtype) const;
  int encoder_query_width() const;  // of the layer that has the widest
  // What the contexts that it runs on are made for.
  const Primitives& primitives() const { return primitives_; }

  bool Encoded(const EncodeState& state) const {
    return state.stage() == encode_stages();
  }
  // What is left of an encode, in rows of all stages, rounded up.
  int EncodeRowsLeft(const EncodeState& state) const;
  // Advances each piece by its rows. Pieces that are in the same stage are
  // computed together. Their order may change.
  absl::Status Encode(ExecContext& context, Activations& activations,
                      absl::Span<EncodePiece> pieces) const;

  // Layers that follow the encoder's output, for vectors of `hidden`: to embed,
  // and of the trained head (empty if there is none).
  const Head& embed() const { return embed_; }
  const Head& head() const { return head_; }
  // What `needs` asks of the masked-LM logits of rows [rows, ...] that head()
  // has made, into activations.logits().
  absl::Status MaskedLogits(ExecContext& context, Activations& activations,
                            Matrix rows,
                            absl::Span<const LogitsNeed> needs) const;

  // Computes the rows through all decoder layers into activations.x(rows).
  absl::Status Decode(ExecContext& context, Activations& activations,
                      const DecodeRows& rows) const;
  // What `needs` asks of the raw logits of some rows of the last Decode(), into
  // activations.logits(), in their order.
  absl::Status Logits(ExecContext& context, Activations& activations,
                      absl::Span<const int> rows,
                      absl::Span<const LogitsNeed> needs) const;

 private:
  Transformer(Compute& compute, const TransformerSpec& spec, ComputeType dtype);
  absl::Status LoadHeads(Weights& weights);
  absl::Status LoadLogits(Weights& weights, TokenTables& tables, int max_rows);
  void CountStageCosts();

  int encode_stages() const { return static_cast<int>(stage_costs_.size()); }
  // The stages of a share's pieces, as far as these go.
  absl::Status RunShare(EncodeShare& share) const;
  // One stage of the rows that the share has taken.
  absl::Status RunStage(EncodeShare& share, int stage) const;
  LayerPass PassOf(EncodeShare& share, int layer) const;
  absl::Status ProjectStage(EncodeShare& share, int layer) const;
  absl::Status AttendStage(EncodeShare& share, int layer) const;
  absl::Status LastStage(EncodeShare& share) const;
  absl::Status Remember(EncodeShare& share) const;
  absl::Status Embed(EncodeShare& share) const;
  // The rows on one context, from embedding to final norm.
  absl::Status DecodeShare(ExecContext& context, Activations& activations,
                           const DecodeRows& rows) const;

  Primitives primitives_;
  const TransformerSpec spec_;
  const ComputeType dtype_;
  const KvLayout encoder_kv_layout_;
  std::optional<Stack> encoder_;
  std::optional<Stack> decoder_;
  std::optional<Linear> logits_in_;  // see TransformerSpec::logits_width
  std::optional<Projection> logits_;
  Head embed_{{}};
  Head head_{{}};
  // Relative cost of a row in each encode stage, and their sum.
  std::vector<int64_t> stage_costs_;
  int64_t row_cost_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_TRANSFORMER_H_
