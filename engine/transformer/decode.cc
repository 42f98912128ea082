// The decoder's forward pass.

#include <algorithm>

#include "engine/tensor/status_macros.h"
#include "engine/transformer/transformer.h"

namespace attend {

absl::Status Transformer::Decode(Compute& compute, Activations& activations,
                                 const DecodeRows& rows) const {
  const int total = static_cast<int>(rows.ids.size());
  const Matrix x = activations.x(total);
  decoder_.embedding.Run(compute, rows.ids, rows.positions, x);
  MakeOperand(compute, x, activations.x_operand(total));
  for (size_t layer = 0; layer < decoder_.layers.size(); ++layer) {
    RETURN_IF_ERROR(
        DecodeLayer(compute, activations, static_cast<int>(layer), rows));
  }
  if (decoder_.final_norm) decoder_.final_norm->Run(compute, x, x, {});
  return absl::OkStatus();
}

absl::Status Transformer::DecodeLayer(Compute& compute,
                                      Activations& activations, int index,
                                      const DecodeRows& rows) const {
  const Layer& layer = decoder_.layers[index];
  const KvPlace place = {.layout = rows.kv_layout, .layer = index};
  const int total = static_cast<int>(rows.ids.size());
  const Matrix x = activations.x(total);  // [rows, hidden]

  {
    const SelfAttention& attention = layer.self_attention;
    const Matrix qkv = activations.projected(total, attention.qkv_width());
    const Attended attended =
        activations.attended(total, attention.shape().query_width());
    const Branch branch(compute, layer.norm_place, layer.self_norm, activations,
                        total);
    RETURN_IF_ERROR(
        attention.Project(compute, branch.src(), qkv, place, rows.writes));
    RETURN_IF_ERROR(attention.Attend(compute, qkv.data, qkv.cols, place,
                                     rows.self_pieces, attended, x,
                                     branch.epilogue()));
  }
  if (layer.cross) {
    const CrossAttention& attention = layer.cross->attention;
    const int width = attention.shape().query_width();
    const Branch branch(compute, layer.norm_place, layer.cross->norm,
                        activations, total);
    RETURN_IF_ERROR(attention.Attend(
        compute, branch.src(), place, rows.cross_pieces,
        activations.projected(total, width), activations.attended(total, width),
        x, branch.epilogue()));
  }
  const Branch branch(compute, layer.norm_place, layer.feed_forward_norm,
                      activations, total);
  const int width = layer.feed_forward.width();
  return layer.feed_forward.Run(
      compute, branch.src(), activations.inner(total, width),
      activations.inner_operand(total, width), x, branch.epilogue());
}

absl::Status Transformer::Logits(Compute& compute, Activations& activations,
                                 absl::Span<const int> rows,
                                 absl::Span<const LogitsNeed> needs) const {
  const int total = static_cast<int>(rows.size());
  const Matrix x = activations.x(activations.max_rows());
  const Matrix src = activations.normed(total);  // [rows, hidden]
  for (int i = 0; i < total; ++i) {
    std::copy_n(x.row(rows[i]), x.cols, src.row(i));
  }
  const Operand operand = activations.normed_operand(total);
  MakeOperand(compute, src, operand);
  return logits_.Run(compute, operand, needs, activations.logits());
}

}  // namespace attend
