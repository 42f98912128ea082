// The decoder's forward pass.

#include <algorithm>

#include "engine/compute/op_timer.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/layer_pass.h"
#include "engine/transformer/shares.h"
#include "engine/transformer/transformer.h"

namespace attend {
namespace {

// Some rows of a share, which go through a layer together.
struct Part {
  ExecContext& context;
  Activations& activations;
  const DecodeRows rows;
  const Range room;
  const bool is_all;  // of the share
};

absl::Status EmbedPart(const Embedding& embedding, const Part& part) {
  const int width = embedding.width();
  return embedding.Run(
      part.context,
      {.ids = part.rows.ids, .positions = part.rows.positions, .types = {}},
      part.activations.inner(part.room, width),
      part.activations.inner_operand(part.room, width),
      part.activations.x(part.rows.range()));
}

absl::Status PassPart(const Layer& layer, int index, bool is_last,
                      const Part& part) {
  const DecodeRows& rows = part.rows;
  const LayerPass pass(
      part.context, part.activations, layer,
      {.x = rows.range(), .room = part.room},
      {.layout = rows.kv_layout, .layer = index, .first_row = rows.first_row});
  if (index == 0 || !part.is_all) pass.MakeOperandOfX();
  RETURN_IF_ERROR(pass.Project(
      {.positions = rows.positions, .lengths = rows.lengths}, rows.writes));
  return pass.Attend(
      pass.qkv(),
      {.self = rows.self_pieces,
       .cross = rows.cross_pieces,
       .weighed = is_last ? rows.weighed : absl::Span<const WeighedRow>()});
}

}  // namespace

absl::Status Transformer::Decode(ExecContext& context, Activations& activations,
                                 const DecodeRows& rows) const {
  const OpTimer timer({.name = "decode", .rows = rows.size()});
  const int members = context.team().size();
  const int room = activations.room_rows();
  if (members == 1 || rows.size() < kRowsWorthAShare * members ||
      !rows.Independent()) {
    return DecodeShare(context, activations, rows, {0, room});
  }
  return RunShares(context, [&](int member, ExecContext& alone) {
    const DecodeRows share = ShareOf(rows, member, members);
    if (share.ids.empty()) return absl::OkStatus();
    // Shares are uneven where there are sources: each has the room of its rows.
    return DecodeShare(alone, activations, share,
                       room == activations.max_rows()
                           ? share.range()
                           : Share(room, member, members));
  });
}

// All rows go through a layer before the next layer's weights are read.
absl::Status Transformer::DecodeShare(ExecContext& context,
                                      Activations& activations,
                                      const DecodeRows& rows,
                                      Range room) const {
  Activations::Lists& lists = activations.lists(context.first_member());
  const int layers = static_cast<int>(decoder_->layers.size());
  const int most = room.end - room.begin;
  for (int layer = -1; layer < layers; ++layer) {
    const OpTimer timer(
        {.name = "decoder_layer", .rows = rows.size(), .layer = layer});
    for (int begin = 0; begin < rows.size(); begin += most) {
      const int count = std::min(most, rows.size() - begin);
      const Part part = {.context = context,
                         .activations = activations,
                         .rows = PartOf(rows, {begin, begin + count}, lists),
                         .room = {room.begin, room.begin + count},
                         .is_all = count == rows.size()};
      RETURN_IF_ERROR(layer < 0 ? EmbedPart(decoder_->embedding, part)
                                : PassPart(*decoder_->layers[layer], layer,
                                           layer + 1 == layers, part));
    }
  }
  if (decoder_->final_norm) {
    const Matrix x = activations.x(rows.range());
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
  Matrix last = src;
  if (logits_in_) {
    const Operand operand = activations.normed_operand({0, total});
    MakeOperand(context.compute(), src, operand);
    last = activations.inner({0, total}, logits_in_->out());
    Epilogue epilogue = {.activation = spec_.logits_projection->activation};
    NormWeights norm;
    if (logits_in_norm_) {
      norm = logits_in_norm_->weights();
      epilogue.norm = &norm;
    }
    RETURN_IF_ERROR(logits_in_->Run(context, operand, last, epilogue));
  }
  const Operand operand = activations.logits_operand(last);
  MakeOperand(context.compute(), last, operand);
  return Project(context, operand, needs, activations.logits());
}

absl::Status Transformer::Project(ExecContext& context, const Operand& src,
                                  absl::Span<const LogitsNeed> needs,
                                  LogitsBuffer& dst) const {
  const OpTimer timer({.name = "logits", .rows = src.rows});
  const auto listed = std::count_if(
      needs.begin(), needs.end(),
      [](const LogitsNeed& need) { return !need.listed.empty(); });
  if (listed < src.rows) {
    RETURN_IF_ERROR(logits_->Run(context, src, needs, dst));
  }
  if (listed > 0) {
    ATTEND_CHECK(listed_logits_.has_value());
    listed_logits_->Run(context, src, needs, dst);
  }
  return absl::OkStatus();
}

absl::Status Transformer::MaskedLogits(
    ExecContext& context, Activations& activations, Matrix rows,
    absl::Span<const LogitsNeed> needs) const {
  const Operand operand = activations.logits_operand(rows);
  MakeOperand(context.compute(), rows, operand);
  return logits_->Run(context, operand, needs, activations.logits());
}

}  // namespace attend
