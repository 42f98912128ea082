// The decoder's forward pass.

#include <algorithm>
#include <optional>

#include "engine/tensor/status_macros.h"
#include "engine/transformer/lanes.h"
#include "engine/transformer/transformer.h"

namespace attend {
namespace {

// Of rows that all see what is written before this step and their own token, as
// decode rows do, any part can be computed alone. The pieces of a source's
// hypotheses stay together, so that its keys are read once; without a source
// they may part anywhere.
DecodeRows Lane(const DecodeRows& rows, int member, int members) {
  const int total = static_cast<int>(rows.ids.size());
  const auto piece_at = [&](int row) {
    return std::lower_bound(rows.cross_pieces.begin(), rows.cross_pieces.end(),
                            row, [](const AttentionPiece& piece, int wanted) {
                              return piece.first_row < wanted;
                            });
  };
  const Range ideal = Share(total, member, members);
  const auto from = piece_at(ideal.begin);
  const auto to = piece_at(ideal.end);
  const auto row_of = [&](auto piece, int wanted) {
    if (rows.cross_pieces.empty()) return wanted;
    return piece == rows.cross_pieces.end() ? total : piece->first_row;
  };
  const int first = row_of(from, ideal.begin);
  const int count = row_of(to, ideal.end) - first;
  return {.kv_layout = rows.kv_layout,
          .first_row = first,
          .ids = rows.ids.subspan(first, count),
          .positions = rows.positions.subspan(first, count),
          .lengths = rows.lengths.empty() ? rows.lengths
                                          : rows.lengths.subspan(first, count),
          .writes = rows.writes.subspan(first, count),
          .self_pieces = rows.self_pieces.subspan(first, count),
          .cross_pieces = rows.cross_pieces.subspan(
              from - rows.cross_pieces.begin(), to - from)};
}

// Whether every row is a hypothesis of its own: then no row reads what another
// row of this step writes.
bool Independent(const DecodeRows& rows) {
  return rows.self_pieces.size() == rows.ids.size() &&
         rows.writes.size() == rows.ids.size();
}

}  // namespace

absl::Status Transformer::Decode(ExecContext& context, Activations& activations,
                                 const DecodeRows& rows) const {
  const int members = context.team().size();
  const int total = static_cast<int>(rows.ids.size());
  if (members == 1 || total < kRowsWorthALane * members || !Independent(rows)) {
    return DecodeLane(context, activations, rows);
  }
  return RunLanes(context, [&](int member, ExecContext& alone) {
    const DecodeRows lane = Lane(rows, member, members);
    if (lane.ids.empty()) return absl::OkStatus();
    return DecodeLane(alone, activations, lane);
  });
}

absl::Status Transformer::DecodeLane(ExecContext& context,
                                     Activations& activations,
                                     const DecodeRows& rows) const {
  const Range range = {rows.first_row,
                       rows.first_row + static_cast<int>(rows.ids.size())};
  const Matrix x = activations.x(range);
  const int width = decoder_->embedding.width();
  RETURN_IF_ERROR(decoder_->embedding.Run(
      context, {.ids = rows.ids, .positions = rows.positions, .types = {}},
      activations.inner(range, width), activations.inner_operand(range, width),
      x));
  MakeOperand(context.compute(), x, activations.x_operand(range));
  for (size_t layer = 0; layer < decoder_->layers.size(); ++layer) {
    RETURN_IF_ERROR(
        DecodeLayer(context, activations, static_cast<int>(layer), rows));
  }
  if (decoder_->final_norm) {
    decoder_->final_norm->Run(context.compute(), x, x, {});
  }
  return absl::OkStatus();
}

absl::Status Transformer::DecodeLayer(ExecContext& context,
                                      Activations& activations, int index,
                                      const DecodeRows& rows) const {
  const Layer& layer = decoder_->layers[index];
  const KvPlace place = {
      .layout = rows.kv_layout, .layer = index, .first_row = rows.first_row};
  const Range range = {rows.first_row,
                       rows.first_row + static_cast<int>(rows.ids.size())};
  const Matrix x = activations.x(range);  // [rows, hidden]

  const auto feed_forward = [&]() -> absl::Status {
    const Branch branch(context.compute(), layer.norm_place,
                        layer.feed_forward_norm, layer.feed_forward_branch_norm,
                        activations, range);
    const int width = layer.feed_forward.width();
    RETURN_IF_ERROR(layer.feed_forward.Run(
        context, branch.src(), activations.inner(range, width),
        activations.inner_operand(range, width), branch.dst(),
        branch.epilogue()));
    branch.Finish();
    return absl::OkStatus();
  };

  {
    const SelfAttention& attention = layer.self_attention;
    const Matrix qkv = activations.projected(range, attention.qkv_width());
    const Attended attended =
        activations.attended(range, attention.shape().query_width());
    const Branch branch(context.compute(), layer.norm_place, layer.self_norm,
                        layer.self_branch_norm, activations, range);
    RETURN_IF_ERROR(attention.Project(
        context, branch.src(),
        {.positions = rows.positions, .lengths = rows.lengths}, qkv, place,
        rows.writes));
    // From here on attention reads no x.
    if (layer.parallel) RETURN_IF_ERROR(feed_forward());
    RETURN_IF_ERROR(attention.Attend(context, qkv.data, qkv.cols, place,
                                     rows.self_pieces, attended, branch.dst(),
                                     branch.epilogue()));
    branch.Finish();
  }
  if (layer.cross) {
    const CrossAttention& attention = layer.cross->attention;
    const int width = attention.shape().query_width();
    const Branch branch(context.compute(), layer.norm_place, layer.cross->norm,
                        std::nullopt, activations, range);
    RETURN_IF_ERROR(attention.Attend(
        context, branch.src(), place, rows.cross_pieces,
        activations.projected(range, width), activations.attended(range, width),
        x, branch.epilogue()));
  }
  return layer.parallel ? absl::OkStatus() : feed_forward();
}

absl::Status Transformer::Logits(ExecContext& context, Activations& activations,
                                 absl::Span<const int> rows,
                                 absl::Span<const LogitsNeed> needs) const {
  const int total = static_cast<int>(rows.size());
  const Matrix x = activations.x({0, activations.max_rows()});
  const Matrix src = activations.normed({0, total});  // [rows, hidden]
  const float scale = spec_.logits_scale;
  for (int i = 0; i < total; ++i) {
    const float* const row = x.row(rows[i]);
    std::transform(row, row + x.cols, src.row(i),
                   [&](float value) { return value * scale; });
  }
  const Operand operand = activations.normed_operand({0, total});
  MakeOperand(context.compute(), src, operand);
  if (!logits_in_) {
    return logits_->Run(context, operand, needs, activations.logits());
  }
  const int width = spec_.logits_width;
  const Matrix mapped = activations.inner({0, total}, width);
  RETURN_IF_ERROR(logits_in_->Run(context, operand, mapped));
  const Operand narrow = activations.inner_operand({0, total}, width);
  MakeOperand(context.compute(), mapped, narrow);
  return logits_->Run(context, narrow, needs, activations.logits());
}

absl::Status Transformer::MaskedLogits(
    ExecContext& context, Activations& activations, Matrix rows,
    absl::Span<const LogitsNeed> needs) const {
  // What the head has made may be narrower than the hidden states.
  const Range range = {0, rows.rows};
  const Operand operand = activations.inner_operand(range, rows.cols);
  MakeOperand(context.compute(), rows, operand);
  return logits_->Run(context, operand, needs, activations.logits());
}

}  // namespace attend
