#include "engine/transformer/activations.h"

#include <algorithm>
#include <cstddef>

#include "engine/tensor/check.h"

namespace attend {
namespace {

// With this many rows a member, or more, matmuls run at full speed, and an
// operation takes far longer than the members' meeting after it.
constexpr int kMemberRows = 128;
constexpr int kMinRoomRows = 256;
static_assert(kMinRoomRows >= kMaxLogitsRows);

// Numbers of a row.
struct Widths {
  int projected = 0;
  int attended = 0;
  int feed_forward = 0;
  int others = 0;  // of what else is between matmuls
  int heads = 0;   // of what follows an encoder
  int logits = 0;  // of their operand
  int taps = 0;    // of a convolution's operand
  int chosen = 0;  // experts of a row; 0: there are none
  int experts = 0;
  bool has_parallel = false;  // whether a layer is parallel

  int operand() const {
    return std::max({attended, feed_forward, others, heads, logits, taps});
  }
};

int TapsOf(const TransformerSpec& spec) {
  if (!spec.encoder || !spec.encoder->convolution) return 0;
  return spec.encoder->convolution->size * spec.hidden;
}

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
      widths.feed_forward =
          std::max(widths.feed_forward, layer.feed_forward.width);
      widths.has_parallel |= layer.parallel;
      if (const auto& experts = layer.feed_forward.experts) {
        widths.chosen = std::max(widths.chosen, experts->chosen);
        widths.experts = std::max(widths.experts, experts->count);
      }
    }
    widths.others = std::max(widths.others, stack->embedding.width);
  }
  widths.taps = TapsOf(spec);
  if (spec.logits_projection) {
    widths.others = std::max(widths.others, spec.logits_projection->out);
  }
  if (spec.LogitsVocab() > 0) widths.logits = spec.hidden;
  if (!spec.head) return widths;
  widths.heads = spec.hidden;
  for (const DenseSpec& layer : spec.head->layers) {
    widths.heads = std::max(widths.heads, layer.out);
  }
  return widths;
}

}  // namespace

Activations::Rows::Rows(int max_rows, int width)
    : max_rows_(max_rows),
      width_(width),
      memory_(Buffer<float>::OfSteps(static_cast<size_t>(max_rows) * width)) {}

Matrix Activations::Rows::Of(Range rows, int cols, int place) {
  ATTEND_CHECK(place + cols <= width_ && rows.end <= max_rows_);
  const int count = rows.end - rows.begin;
  return {memory_.data() + static_cast<size_t>(rows.begin) * width_ +
              static_cast<size_t>(count) * place,
          count, cols};
}

Activations::Places Activations::PlacesIn(const TransformerSpec& spec,
                                          ComputeType dtype) {
  const Widths widths = WidestOf(spec);
  const int attention = widths.projected + widths.attended;
  const int inner =
      dtype == ComputeType::kF32
          ? std::max({widths.feed_forward, widths.others, widths.heads})
          : std::max(spec.hidden, widths.others);
  Places places = {.attended = widths.projected};
  // Parallel: the feed-forward is computed while the queries wait.
  if (widths.has_parallel) places.inner = attention;
  places.gathered = places.inner + inner;
  places.expert_outputs = places.gathered;
  const int chosen = widths.chosen * spec.hidden;
  if (dtype == ComputeType::kF32) places.expert_outputs += chosen;
  places.width = std::max(
      attention, places.expert_outputs + std::max(chosen, widths.experts));
  return places;
}

int Activations::RoomRows(const TransformerSpec& spec, int max_rows,
                          int members) {
  if (spec.encoder) return max_rows;
  return std::min(max_rows, std::max(kMinRoomRows, members * kMemberRows));
}

Activations::Activations(const TransformerSpec& spec, Types types, int max_rows,
                         int members)
    : hidden_(spec.hidden),
      max_rows_(max_rows),
      room_rows_(RoomRows(spec, max_rows, members)),
      separate_normed_(types.matmuls == ComputeType::kF32),
      separate_logits_(types.logits != types.matmuls),
      adapted_width_(spec.adapters ? spec.adapters->width() : 0),
      places_(PlacesIn(spec, types.matmuls)),
      taps_width_(TapsOf(spec)),
      x_(max_rows, spec.hidden),
      normed_(room_rows_, separate_normed_ ? spec.hidden : 0),
      layer_(room_rows_, places_.width),
      adapted_(room_rows_, adapted_width_),
      taps_(room_rows_, taps_width_ > 0 ? taps_width_ + spec.hidden : 0),
      logits_(std::min(max_rows, kMaxLogitsRows), spec.LogitsVocab(), members),
      hidden_operand_(types.matmuls, room_rows_, spec.hidden),
      inner_operand_(types.matmuls, room_rows_, WidestOf(spec).operand()),
      logits_operand_(types.logits,
                      separate_logits_ ? std::min(max_rows, kMaxLogitsRows) : 0,
                      WidestOf(spec).operand()),
      gathered_operand_(types.matmuls, room_rows_ * WidestOf(spec).chosen,
                        spec.hidden),
      lists_(members),
      choices_(members) {
  for (Lists& lists : lists_) {
    lists.ids.reserve(max_rows);
    lists.positions.reserve(max_rows);
    lists.types.reserve(max_rows);
    if (spec.adapters) lists.adapters.reserve(max_rows);
    if (spec.encoder && spec.encoder->embedding.dropped_id >= 0) {
      lists.scales.reserve(max_rows);
    }
    lists.writes.reserve(max_rows);
    lists.pieces.reserve(max_rows);
  }
  const Widths widths = WidestOf(spec);
  for (ExpertChoices& choices : choices_) {
    choices.Reserve(room_rows_, widths.chosen, widths.experts);
  }
}

Attended Activations::attended(Range rows, int cols) {
  const Matrix heads = layer_.Of(rows, cols, places_.attended);
  return {.rows = heads, .operand = inner_operand_.Of(heads, rows.begin)};
}

Attended Activations::taps(Range rows) {
  const Matrix taps = taps_.Of(rows, taps_width_);
  return {.rows = taps, .operand = inner_operand_.Of(taps, rows.begin)};
}

ExpertRoom Activations::experts(Range rows, const MixtureOfExperts& experts,
                                int member) {
  const int places = (rows.end - rows.begin) * experts.chosen();
  const int width = experts.chosen() * experts.hidden();
  // A row's places are side by side, as are rows.
  const auto by_place = [&](int first) {
    return Matrix{layer_.Of(rows, width, first).data, places, experts.hidden()};
  };
  Matrix gathered = {nullptr, places, experts.hidden()};
  if (separate_normed_) gathered = by_place(places_.gathered);
  return {
      .scores = layer_.Of(rows, experts.experts(), places_.expert_outputs),
      .gathered = gathered_operand_.Of(gathered, rows.begin * experts.chosen()),
      .inner = inner_product(rows, experts.width()),
      .inner_operand = inner_operand(rows, experts.width()),
      .outputs = by_place(places_.expert_outputs),
      .choices = &choices_[member]};
}

Operand Activations::inner_operand(Range rows, int cols) {
  return inner_operand_.Of(inner_product(rows, cols), rows.begin);
}

Operand Activations::logits_operand(Matrix rows) {
  return (separate_logits_ ? logits_operand_ : inner_operand_).Of(rows);
}

uint64_t Activations::BytesFor(const TransformerSpec& spec, ComputeType dtype,
                               int max_rows) {
  const bool f32 = dtype == ComputeType::kF32;
  const uint64_t x = sizeof(float) * spec.hidden;
  const uint64_t floats = uint64_t{1} * (f32 ? spec.hidden : 0) +
                          PlacesIn(spec, dtype).width + TapsOf(spec) +
                          (spec.adapters ? spec.adapters->width() : 0);
  const uint64_t operands =
      OperandBytes(dtype, spec.hidden) +
      OperandBytes(dtype, WidestOf(spec).operand()) +
      WidestOf(spec).chosen * OperandBytes(dtype, spec.hidden);
  const uint64_t room = floats * sizeof(float) + (f32 ? 0 : operands);
  return x * max_rows + room * RoomRows(spec, max_rows, /*members=*/1);
}

}  // namespace attend
