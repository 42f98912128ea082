#include "engine/transformer/activations.h"

#include <algorithm>

#include "engine/tensor/check.h"

namespace attend {
namespace {

struct Widths {
  int projected = 0;
  int attended = 0;
  int inner = 0;
};

void Widen(const AttentionSpec& attention, Widths& widths) {
  const int query = attention.heads * attention.head_dim;
  const int key_value = 2 * attention.kv_heads * attention.head_dim;
  widths.projected = std::max(widths.projected, query + key_value);
  widths.attended = std::max(widths.attended, query);
}

Widths WidestOf(const TransformerSpec& spec) {
  Widths widths;
  for (const auto& stack : {spec.encoder, spec.decoder}) {
    if (!stack.has_value()) continue;
    for (const LayerSpec& layer : stack->layers) {
      Widen(layer.self_attention, widths);
      if (layer.cross_attention) Widen(*layer.cross_attention, widths);
      widths.inner = std::max(widths.inner, layer.feed_forward.width);
    }
    widths.inner = std::max(widths.inner, stack->embedding.width);
  }
  widths.inner = std::max(widths.inner, spec.logits_width);
  if (!spec.head) return widths;
  widths.inner = std::max(widths.inner, spec.hidden);
  for (const DenseSpec& layer : spec.head->layers) {
    widths.inner = std::max(widths.inner, layer.out);
  }
  return widths;
}

Buffer<float> Floats(int rows, int cols) {
  return Buffer<float>(static_cast<size_t>(rows) * cols);
}

}  // namespace

Activations::Activations(const TransformerSpec& spec, ComputeType dtype,
                         int max_rows, int members)
    : hidden_(spec.hidden),
      max_rows_(max_rows),
      x_(Floats(max_rows, spec.hidden)),
      normed_(Floats(max_rows, spec.hidden)),
      projected_(Floats(max_rows, WidestOf(spec).projected)),
      attended_(Floats(max_rows, WidestOf(spec).attended)),
      inner_(Floats(max_rows, WidestOf(spec).inner)),
      logits_(std::min(max_rows, kMaxLogitsRows), spec.LogitsVocab(), members),
      hidden_operand_(dtype, max_rows, spec.hidden),
      attended_operand_(dtype, max_rows, WidestOf(spec).attended),
      inner_operand_(dtype, max_rows, WidestOf(spec).inner),
      lists_(members) {
  for (Lists& lists : lists_) {
    lists.ids.reserve(max_rows);
    lists.positions.reserve(max_rows);
    lists.types.reserve(max_rows);
    lists.writes.reserve(max_rows);
    lists.pieces.reserve(max_rows);
  }
}

uint64_t Activations::BytesFor(const TransformerSpec& spec, ComputeType dtype,
                               int max_rows) {
  const Widths widths = WidestOf(spec);
  const uint64_t operands =
      uint64_t{1} * spec.hidden + widths.attended + widths.inner;
  const uint64_t floats = operands + spec.hidden + widths.projected;
  const uint64_t row =
      floats * sizeof(float) +
      (dtype == ComputeType::kF32 ? 0 : operands * BytesOf(dtype));
  return row * max_rows;
}

Matrix Activations::View(Buffer<float>& buffer, Range rows, int cols) {
  const size_t widest = buffer.size() / max_rows_;
  const int count = rows.end - rows.begin;
  ATTEND_CHECK(static_cast<size_t>(cols) <= widest && rows.end <= max_rows_);
  return {buffer.data() + rows.begin * widest, count, cols};
}

}  // namespace attend
