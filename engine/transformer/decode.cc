// The decoder's forward pass.

#include <algorithm>

#include "engine/tensor/status_macros.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/shares.h"
#include "engine/transformer/transformer.h"

namespace attend {
namespace {

// The rows of one member, if all rows are Independent(). The hypotheses of one
// source stay together, so that the source's keys are read once. Without
// sources the rows may be divided anywhere.
DecodeRows ShareOf(const DecodeRows& rows, int member, int members) {
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
  if (members == 1 || total < kRowsWorthAShare * members ||
      !Independent(rows)) {
    return DecodeShare(context, activations, rows);
  }
  return RunShares(context, [&](int member, ExecContext& alone) {
    const DecodeRows share = ShareOf(rows, member, members);
    if (share.ids.empty()) return absl::OkStatus();
    return DecodeShare(alone, activations, share);
  });
}

absl::Status Transformer::DecodeShare(ExecContext& context,
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
  for (size_t i = 0; i < decoder_->layers.size(); ++i) {
    const LayerPass pass(context, activations, decoder_->layers[i], range,
                         {.layout = rows.kv_layout,
                          .layer = static_cast<int>(i),
                          .first_row = rows.first_row});
    if (i == 0) pass.MakeOperandOfX();
    RETURN_IF_ERROR(pass.Project(
        {.positions = rows.positions, .lengths = rows.lengths}, rows.writes));
    RETURN_IF_ERROR(pass.Attend(
        pass.qkv(), {.self = rows.self_pieces, .cross = rows.cross_pieces}));
  }
  if (decoder_->final_norm) {
    decoder_->final_norm->Run(context.compute(), x, x, {});
  }
  return absl::OkStatus();
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
