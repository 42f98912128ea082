// The encoder's forward pass, in pieces (see EncodeState for the stages).

#include <algorithm>

#include "engine/tensor/status_macros.h"
#include "engine/transformer/lanes.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/transformer.h"

namespace attend {

absl::Status Transformer::Encode(ExecContext& context, Activations& activations,
                                 absl::Span<EncodePiece> pieces) const {
  for (EncodePiece& piece : pieces) piece.budget = piece.rows * row_cost_;
  const int members = context.team().size();
  if (!SplitIntoLanes(pieces, members)) {
    EncodeLane lane(context, activations, pieces, {0, activations.max_rows()});
    return RunLane(lane);
  }
  return RunLanes(context, [&](int member, ExecContext& alone) {
    EncodeLane lane(alone, activations, PiecesOf(pieces, member),
                    Share(activations.max_rows(), member, members));
    return RunLane(lane);
  });
}

absl::Status Transformer::RunLane(EncodeLane& lane) const {
  for (int stage = 0; stage < encode_stages(); ++stage) {
    while (lane.TakeRows(stage, stage_costs_[stage])) {
      RETURN_IF_ERROR(RunStage(lane, stage));
      lane.Advance();
    }
  }
  return absl::OkStatus();
}

absl::Status Transformer::RunStage(EncodeLane& lane, int stage) const {
  if (stage == encode_stages() - 1) return LastStage(lane);
  const int layer = stage / 2;
  return stage % 2 == 0 ? ProjectStage(lane, layer) : AttendStage(lane, layer);
}

absl::Status Transformer::Embed(EncodeLane& lane) const {
  Activations& activations = lane.activations();
  const Range range = lane.rows();
  const int total = range.end - range.begin;
  Activations::Lists& lists = activations.lists(lane.context().first_member());
  lists.ids.resize(total);
  lists.positions.resize(total);
  lists.types.resize(total);
  lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    const EncodeState::Tokens& tokens = state.tokens();
    lists.ids[i] = tokens.ids[source_row];
    lists.positions[i] = tokens.table_positions.empty()
                             ? tokens.positions[source_row]
                             : tokens.table_positions[source_row];
    lists.types[i] = tokens.types.empty() ? 0 : tokens.types[source_row];
  });
  const int width = encoder_->embedding.width();
  RETURN_IF_ERROR(encoder_->embedding.Run(
      lane.context(),
      {.ids = lists.ids, .positions = lists.positions, .types = lists.types},
      activations.inner(range, width), activations.inner_operand(range, width),
      activations.x(range)));
  if (!lane.whole()) lane.StoreHidden();
  return absl::OkStatus();
}

LayerPass Transformer::PassOf(EncodeLane& lane, int layer) const {
  return {lane.context(),
          lane.activations(),
          encoder_->layers[layer],
          lane.rows(),
          {.layout = &encoder_kv_layout_, .layer = 0}};
}

absl::Status Transformer::ProjectStage(EncodeLane& lane, int index) const {
  const SelfAttention& attention = encoder_->layers[index].self_attention;
  const LayerPass pass = PassOf(lane, index);
  if (index == 0) RETURN_IF_ERROR(Embed(lane));
  if (index > 0 && !lane.whole()) lane.LoadHidden();
  if (index == 0 || !lane.whole()) pass.TakeNewX();
  absl::Span<const int> positions;
  if (attention.rotates()) positions = lane.Positions();
  RETURN_IF_ERROR(pass.Project({.positions = positions}, lane.EncoderWrites()));
  if (lane.whole()) return absl::OkStatus();
  const Matrix qkv = pass.qkv();
  const int width = attention.shape().query_width();
  lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(qkv.row(i), width, state.query(source_row, width));
  });
  return absl::OkStatus();
}

absl::Status Transformer::AttendStage(EncodeLane& lane, int index) const {
  const LayerPass pass = PassOf(lane, index);
  if (lane.whole()) return pass.Attend(pass.qkv(), {.self = lane.AllKeys()});
  const int width =
      encoder_->layers[index].self_attention.shape().query_width();
  const Matrix query = lane.activations().projected(lane.rows(), width);
  lane.LoadHidden();
  lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(state.query(source_row, width), width, query.row(i));
  });
  RETURN_IF_ERROR(pass.Attend(query, {.self = lane.AllKeys()}));
  lane.StoreHidden();
  return absl::OkStatus();
}

absl::Status Transformer::LastStage(EncodeLane& lane) const {
  const Matrix x = lane.activations().x(lane.rows());  // [rows, hidden]
  if (!lane.whole()) lane.LoadHidden();
  if (encoder_->final_norm) {
    encoder_->final_norm->Run(lane.context().compute(), x, x, {});
  }
  if (lane.whole() || encoder_->final_norm) lane.StoreHidden();
  return Remember(lane);
}

absl::Status Transformer::Remember(EncodeLane& lane) const {
  const absl::Span<const KvWrite> writes = lane.CrossWrites();
  if (writes.empty()) return absl::OkStatus();
  ExecContext& context = lane.context();
  Activations& activations = lane.activations();
  const Operand operand = activations.x_operand(lane.rows());
  MakeOperand(context.compute(), activations.x(lane.rows()), operand);
  for (size_t i = 0; i < decoder_->layers.size(); ++i) {
    const CrossAttention& attention = decoder_->layers[i].cross->attention;
    RETURN_IF_ERROR(attention.Remember(
        context, operand,
        activations.projected(lane.rows(), attention.key_value_width()),
        {.layout = lane.cross_layout(), .layer = static_cast<int>(i)}, writes));
  }
  return absl::OkStatus();
}

}  // namespace attend
