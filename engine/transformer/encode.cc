// The encoder's forward pass, in pieces (see EncodeState for the stages).

#include <algorithm>

#include "engine/tensor/status_macros.h"
#include "engine/transformer/lanes.h"
#include "engine/transformer/transformer.h"

namespace attend {

absl::Status Transformer::Encode(Compute& compute, Activations& activations,
                                 absl::Span<EncodePiece> pieces) const {
  for (EncodePiece& piece : pieces) piece.budget = piece.rows * row_cost_;
  const int members = compute.team().size();
  if (!SplitIntoLanes(pieces, members)) {
    EncodeLane lane(compute, activations, pieces, {0, activations.max_rows()});
    return RunLane(lane);
  }
  return RunLanes(compute, [&](int member, Compute& alone) {
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
  if (stage == encode_stages() - 1) return RememberStage(lane);
  const int layer = stage / 2;
  return stage % 2 == 0 ? ProjectStage(lane, layer) : AttendStage(lane, layer);
}

void Transformer::Embed(EncodeLane& lane) const {
  const int total = lane.rows().end - lane.rows().begin;
  Activations::Lists& lists =
      lane.activations().lists(lane.compute().first_member());
  lists.ids.resize(total);
  lists.positions.resize(total);
  lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    lists.ids[i] = state.ids()[source_row];
    lists.positions[i] = state.positions()[source_row];
  });
  encoder_.embedding.Run(lane.compute(), lists.ids, lists.positions,
                         lane.activations().x(lane.rows()));
  if (!lane.whole()) lane.StoreHidden();
}

absl::Status Transformer::ProjectStage(EncodeLane& lane, int index) const {
  Compute& compute = lane.compute();
  Activations& activations = lane.activations();
  const Layer& layer = encoder_.layers[index];
  const SelfAttention& attention = layer.self_attention;
  const KvLayout layout = encoder_kv_layout();
  if (index == 0) {
    Embed(lane);
  } else if (!lane.whole()) {
    lane.LoadHidden();
  }
  // In a whole lane the layer before has left the operand, too.
  if (index == 0 || !lane.whole()) {
    MakeOperand(compute, activations.x(lane.rows()),
                activations.x_operand(lane.rows()));
  }
  const Branch branch(compute, layer.norm_place, layer.self_norm, activations,
                      lane.rows());
  const Matrix qkv = activations.projected(lane.rows(), attention.qkv_width());
  RETURN_IF_ERROR(attention.Project(compute, branch.src(), qkv,
                                    {.layout = &layout, .layer = 0},
                                    lane.EncoderWrites()));
  if (lane.whole()) return absl::OkStatus();
  const int width = attention.shape().query_width();
  lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(qkv.row(i), width, state.query(source_row, width));
  });
  return absl::OkStatus();
}

absl::Status Transformer::AttendStage(EncodeLane& lane, int index) const {
  Compute& compute = lane.compute();
  Activations& activations = lane.activations();
  const Range rows = lane.rows();
  const Layer& layer = encoder_.layers[index];
  const SelfAttention& attention = layer.self_attention;
  const KvLayout layout = encoder_kv_layout();
  const int width = attention.shape().query_width();
  const Matrix x = activations.x(rows);  // [rows, hidden]
  // Queries are where the stage before left them: the first columns of qkv, or
  // in the states.
  const Matrix query =
      activations.projected(rows, lane.whole() ? attention.qkv_width() : width);
  if (!lane.whole()) {
    lane.LoadHidden();
    lane.ForEachRow([&](const EncodeState& state, int source_row, int i) {
      std::copy_n(state.query(source_row, width), width, query.row(i));
    });
  }
  {
    // Their rows were normed there, too: here only the way back into the
    // residual is left.
    const NormWeights norm = layer.self_norm.weights();
    Epilogue epilogue = {.residual = x.data};
    if (layer.norm_place == NormPlace::kPost) {
      epilogue.norm = &norm;
      epilogue.operand = activations.x_operand(rows);
    }
    RETURN_IF_ERROR(attention.Attend(
        compute, query.data, query.cols, {.layout = &layout, .layer = 0},
        lane.AllKeys(), activations.attended(rows, width), x, epilogue));
  }
  const Branch branch(compute, layer.norm_place, layer.feed_forward_norm,
                      activations, rows);
  const int inner = layer.feed_forward.width();
  RETURN_IF_ERROR(layer.feed_forward.Run(
      compute, branch.src(), activations.inner(rows, inner),
      activations.inner_operand(rows, inner), x, branch.epilogue()));
  if (!lane.whole()) lane.StoreHidden();
  return absl::OkStatus();
}

absl::Status Transformer::RememberStage(EncodeLane& lane) const {
  Compute& compute = lane.compute();
  Activations& activations = lane.activations();
  const Matrix x = activations.x(lane.rows());  // [rows, hidden]
  if (!lane.whole()) lane.LoadHidden();
  if (encoder_.final_norm) encoder_.final_norm->Run(compute, x, x, {});
  if (lane.whole() || encoder_.final_norm) lane.StoreHidden();
  const Operand operand = activations.x_operand(lane.rows());
  MakeOperand(compute, x, operand);
  const absl::Span<const KvWrite> writes = lane.CrossWrites();
  for (size_t i = 0; i < decoder_.layers.size(); ++i) {
    const CrossAttention& attention = decoder_.layers[i].cross->attention;
    RETURN_IF_ERROR(attention.Remember(
        compute, operand,
        activations.projected(lane.rows(), attention.key_value_width()),
        {.layout = lane.cross_layout(), .layer = static_cast<int>(i)}, writes));
  }
  return absl::OkStatus();
}

}  // namespace attend
