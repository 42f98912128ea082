// The encoder's forward pass, in pieces (see EncodeState for the stages).

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/transformer.h"

namespace attend {
namespace {

// Calls copy(state, source_row, ragged_row) for the rows of a stage, shared
// among the team.
void ForEachRow(
    Compute& compute, absl::Span<const EncodePiece> pieces, int total,
    absl::FunctionRef<void(const EncodeState&, int source_row, int row)> copy) {
  compute.team().Run([&](int member) {
    const Range mine = Share(total, member, compute.team().size());
    int first = 0;  // ragged row at which the piece begins
    for (const EncodePiece& piece : pieces) {
      const int end = std::min(mine.end, first + piece.stage_rows);
      for (int row = std::max(mine.begin, first); row < end; ++row) {
        copy(*piece.state, piece.state->row() + row - first, row);
      }
      first += piece.stage_rows;
    }
  });
}

void LoadHidden(Compute& compute, absl::Span<const EncodePiece> pieces,
                Matrix x) {
  ForEachRow(compute, pieces, x.rows,
             [&](const EncodeState& state, int source_row, int row) {
               std::copy_n(state.hidden(source_row, x.cols), x.cols,
                           x.row(row));
             });
}

void StoreHidden(Compute& compute, absl::Span<const EncodePiece> pieces,
                 Matrix x) {
  ForEachRow(compute, pieces, x.rows,
             [&](const EncodeState& state, int source_row, int row) {
               std::copy_n(x.row(row), x.cols,
                           state.hidden(source_row, x.cols));
             });
}

// Where the keys and values of the stage's rows go.
absl::Span<const KvWrite> Writes(Activations& activations,
                                 absl::Span<const EncodePiece> pieces,
                                 bool for_decoder) {
  std::vector<KvWrite>& writes = activations.lists().writes;
  writes.clear();
  int first = 0;
  for (const EncodePiece& piece : pieces) {
    if (piece.stage_rows == 0) continue;
    writes.push_back(
        {.first_row = first,
         .rows = piece.stage_rows,
         .blocks = for_decoder ? piece.cross_blocks : piece.state->kv(),
         .first_token = piece.state->row()});
    first += piece.stage_rows;
  }
  return writes;
}

// Every row of a source sees all of its rows: a bidirectional mask.
absl::Span<const AttentionPiece> AllKeys(Activations& activations,
                                         absl::Span<const EncodePiece> pieces) {
  std::vector<AttentionPiece>& result = activations.lists().pieces;
  result.clear();
  int first = 0;
  for (const EncodePiece& piece : pieces) {
    if (piece.stage_rows == 0) continue;
    result.push_back({.first_row = first,
                      .rows = piece.stage_rows,
                      .blocks = piece.state->kv(),
                      .keys = piece.state->rows(),
                      .causal = false});
    first += piece.stage_rows;
  }
  return result;
}

// Sets how many rows each piece computes in `stage` now, within its budget and
// `max_rows` in all; returns their sum.
int TakeRows(absl::Span<EncodePiece> pieces, int stage, int64_t cost,
             int max_rows) {
  int total = 0;
  for (EncodePiece& piece : pieces) {
    const EncodeState& state = *piece.state;
    piece.stage_rows = 0;
    if (state.stage() != stage) continue;
    piece.stage_rows = static_cast<int>(std::min<int64_t>(
        {state.rows() - state.row(), piece.budget / cost, max_rows - total}));
    piece.budget -= piece.stage_rows * cost;
    total += piece.stage_rows;
  }
  return total;
}

}  // namespace

absl::Status Transformer::Encode(Compute& compute, Activations& activations,
                                 absl::Span<EncodePiece> pieces) const {
  for (EncodePiece& piece : pieces) piece.budget = piece.rows * row_cost_;
  for (int stage = 0; stage < encode_stages(); ++stage) {
    while (true) {
      const int total =
          TakeRows(pieces, stage, stage_costs_[stage], activations.max_rows());
      if (total == 0) break;
      RETURN_IF_ERROR(RunStage(compute, activations, stage, pieces, total));
      for (const EncodePiece& piece : pieces) {
        if (piece.stage_rows > 0) piece.state->Advance(piece.stage_rows);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Transformer::RunStage(Compute& compute, Activations& activations,
                                   int stage,
                                   absl::Span<const EncodePiece> pieces,
                                   int total) const {
  const int layer = stage / 2;
  if (stage == encode_stages() - 1) {
    return RememberStage(compute, activations, pieces, total);
  }
  return stage % 2 == 0
             ? ProjectStage(compute, activations, layer, pieces, total)
             : AttendStage(compute, activations, layer, pieces, total);
}

absl::Status Transformer::ProjectStage(Compute& compute,
                                       Activations& activations, int index,
                                       absl::Span<const EncodePiece> pieces,
                                       int total) const {
  const Layer& layer = encoder_.layers[index];
  const SelfAttention& attention = layer.self_attention;
  const KvLayout layout = encoder_kv_layout();
  const Matrix x = activations.x({0, total});  // [rows, hidden]
  if (index == 0) {
    Activations::Lists& lists = activations.lists();
    lists.ids.resize(total);
    lists.positions.resize(total);
    ForEachRow(compute, pieces, total,
               [&](const EncodeState& state, int source_row, int row) {
                 lists.ids[row] = state.ids()[source_row];
                 lists.positions[row] = state.positions()[source_row];
               });
    encoder_.embedding.Run(compute, lists.ids, lists.positions, x);
    StoreHidden(compute, pieces, x);
  } else {
    LoadHidden(compute, pieces, x);
  }
  MakeOperand(compute, x, activations.x_operand({0, total}));
  const Branch branch(compute, layer.norm_place, layer.self_norm, activations,
                      {0, total});
  const Matrix qkv = activations.projected({0, total}, attention.qkv_width());
  RETURN_IF_ERROR(attention.Project(compute, branch.src(), qkv,
                                    {.layout = &layout, .layer = 0},
                                    Writes(activations, pieces, false)));
  const int width = attention.shape().query_width();
  ForEachRow(compute, pieces, total,
             [&](const EncodeState& state, int source_row, int row) {
               std::copy_n(qkv.row(row), width, state.query(source_row, width));
             });
  return absl::OkStatus();
}

absl::Status Transformer::AttendStage(Compute& compute,
                                      Activations& activations, int index,
                                      absl::Span<const EncodePiece> pieces,
                                      int total) const {
  const Layer& layer = encoder_.layers[index];
  const SelfAttention& attention = layer.self_attention;
  const KvLayout layout = encoder_kv_layout();
  const int width = attention.shape().query_width();
  const Matrix x = activations.x({0, total});  // [rows, hidden]
  const Matrix query =
      activations.projected({0, total}, width);  // [rows, width]
  LoadHidden(compute, pieces, x);
  ForEachRow(compute, pieces, total,
             [&](const EncodeState& state, int source_row, int row) {
               std::copy_n(state.query(source_row, width), width,
                           query.row(row));
             });
  {
    // Queries were made in the stage before, from rows normed there: here only
    // the way back into the residual is left.
    const LayerNormWeights norm = layer.self_norm.weights();
    Epilogue epilogue = {.residual = x.data};
    if (layer.norm_place == NormPlace::kPost) {
      epilogue.norm = &norm;
      epilogue.operand = activations.x_operand({0, total});
    }
    RETURN_IF_ERROR(attention.Attend(
        compute, query.data, query.cols, {.layout = &layout, .layer = 0},
        AllKeys(activations, pieces), activations.attended({0, total}, width),
        x, epilogue));
  }
  const Branch branch(compute, layer.norm_place, layer.feed_forward_norm,
                      activations, {0, total});
  const int inner = layer.feed_forward.width();
  RETURN_IF_ERROR(layer.feed_forward.Run(
      compute, branch.src(), activations.inner({0, total}, inner),
      activations.inner_operand({0, total}, inner), x, branch.epilogue()));
  StoreHidden(compute, pieces, x);
  return absl::OkStatus();
}

absl::Status Transformer::RememberStage(Compute& compute,
                                        Activations& activations,
                                        absl::Span<const EncodePiece> pieces,
                                        int total) const {
  const Matrix x = activations.x({0, total});  // [rows, hidden]
  LoadHidden(compute, pieces, x);
  if (encoder_.final_norm) {
    encoder_.final_norm->Run(compute, x, x, {});
    StoreHidden(compute, pieces, x);
  }
  const Operand operand = activations.x_operand({0, total});
  MakeOperand(compute, x, operand);
  const absl::Span<const KvWrite> writes = Writes(activations, pieces, true);
  for (size_t i = 0; i < decoder_.layers.size(); ++i) {
    const CrossAttention& attention = decoder_.layers[i].cross->attention;
    RETURN_IF_ERROR(attention.Remember(
        compute, operand,
        activations.projected({0, total}, attention.key_value_width()),
        {.layout = pieces.front().cross_layout, .layer = static_cast<int>(i)},
        writes));
  }
  return absl::OkStatus();
}

}  // namespace attend
