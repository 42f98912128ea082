// The encoder's forward pass, in pieces. EncodeState lists the stages.

#include <algorithm>

#include "engine/compute/op_timer.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/shares.h"
#include "engine/transformer/transformer.h"

namespace attend {

absl::Status Transformer::Encode(ExecContext& context, Activations& activations,
                                 absl::Span<EncodePiece> pieces) const {
  const OpTimer timer(
      {.name = "encode", .sequences = static_cast<int>(pieces.size())});
  for (EncodePiece& piece : pieces) piece.budget = piece.rows * row_cost_;
  const int members = context.team().size();
  if (!SplitIntoShares(pieces, members)) {
    EncodeShare share(context, activations, pieces,
                      {0, activations.max_rows()});
    return RunShare(share);
  }
  return RunShares(context, [&](int member, ExecContext& alone) {
    EncodeShare share(alone, activations, PiecesOf(pieces, member),
                      Share(activations.max_rows(), member, members));
    return RunShare(share);
  });
}

absl::Status Transformer::RunShare(EncodeShare& share) const {
  for (int stage = 0; stage < encode_stages(); ++stage) {
    while (share.TakeRows(stage, stage_costs_[stage])) {
      RETURN_IF_ERROR(RunStage(share, stage));
      share.Advance();
    }
  }
  return absl::OkStatus();
}

absl::Status Transformer::RunStage(EncodeShare& share, int stage) const {
  const OpTimer timer({.name = "encoder_stage",
                       .rows = share.rows().end - share.rows().begin,
                       .layer = stage / 2});
  if (stage == encode_stages() - 1) {
    if (stage == 0) RETURN_IF_ERROR(Embed(share));  // there are no layers
    return LastStage(share);
  }
  const int layer = stage / 2;
  return stage % 2 == 0 ? ProjectStage(share, layer)
                        : AttendStage(share, layer);
}

absl::Status Transformer::Embed(EncodeShare& share) const {
  const Matrix x = share.activations().x(share.rows());
  RETURN_IF_ERROR(EmbedRows(share, 0, x));
  if (!share.whole()) share.StoreHidden();
  return absl::OkStatus();
}

LayerPass Transformer::PassOf(EncodeShare& share, int layer) const {
  return {share.context(),
          share.activations(),
          *encoder_->layers[layer],
          {.x = share.rows(), .room = share.rows()},
          {.layout = &encoder_kv_layout_, .layer = 0},
          share.Adapted()};
}

absl::Status Transformer::ProjectStage(EncodeShare& share, int index) const {
  const SelfAttention& attention = encoder_->layers[index]->self_attention;
  const LayerPass pass = PassOf(share, index);
  if (index == 0) RETURN_IF_ERROR(Embed(share));
  if (index > 0 && !share.whole()) share.LoadHidden();
  if (index == 0 || !share.whole()) pass.MakeOperandOfX();
  absl::Span<const int> positions;
  if (attention.rotates()) positions = share.Positions();
  RETURN_IF_ERROR(
      pass.Project({.positions = positions}, share.EncoderWrites()));
  if (share.whole()) return absl::OkStatus();
  const Matrix qkv = pass.qkv();
  const int width = attention.shape().query_width();
  share.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(qkv.row(i), width, state.query(source_row, width));
  });
  return absl::OkStatus();
}

absl::Status Transformer::AttendStage(EncodeShare& share, int index) const {
  const LayerPass pass = PassOf(share, index);
  const bool convolves = index == 0 && encoder_->convolution;
  if (share.whole()) {
    RETURN_IF_ERROR(pass.Attend(pass.qkv(), {.self = share.AllKeys()}));
    return convolves ? Convolve(share) : absl::OkStatus();
  }
  const int width =
      encoder_->layers[index]->self_attention.shape().query_width();
  const Matrix query = share.activations().projected(share.rows(), width);
  share.LoadHidden();
  share.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(state.query(source_row, width), width, query.row(i));
  });
  RETURN_IF_ERROR(pass.Attend(query, {.self = share.AllKeys()}));
  if (convolves) RETURN_IF_ERROR(Convolve(share));
  share.StoreHidden();
  return absl::OkStatus();
}

absl::Status Transformer::LastStage(EncodeShare& share) const {
  const Matrix x = share.activations().x(share.rows());  // [rows, hidden]
  if (!share.whole()) share.LoadHidden();
  if (encoder_->final_norm) {
    encoder_->final_norm->Run(share.context().compute(), x, x, {});
  }
  if (share.whole() || encoder_->final_norm) share.StoreHidden();
  return StoreCrossKeysAndValues(share);
}

absl::Status Transformer::StoreCrossKeysAndValues(EncodeShare& share) const {
  const absl::Span<const KvWrite> writes = share.CrossWrites();
  if (writes.empty()) return absl::OkStatus();
  ExecContext& context = share.context();
  Activations& activations = share.activations();
  const Operand operand =
      activations.x_operand({.x = share.rows(), .room = share.rows()});
  MakeOperand(context.compute(), activations.x(share.rows()), operand);
  for (size_t i = 0; i < decoder_->layers.size(); ++i) {
    const CrossAttention& attention = decoder_->layers[i]->cross->attention;
    RETURN_IF_ERROR(attention.StoreKeysAndValues(
        context, operand,
        activations.projected(share.rows(), attention.key_value_width()),
        {.layout = share.cross_layout(), .layer = static_cast<int>(i)},
        writes));
  }
  return absl::OkStatus();
}

}  // namespace attend
