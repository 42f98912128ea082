#include "engine/transformer/transformer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

KvLayout LayoutOf(const AttentionSpec& attention, int layers, DType dtype) {
  return {.layers = layers,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .dtype = dtype};
}

bool SameKv(const AttentionSpec& a, const AttentionSpec& b) {
  return a.kv_heads == b.kv_heads && a.head_dim == b.head_dim;
}

// One pool holds the keys and values of a stack, so its layers must agree.
absl::Status CheckKvShapes(const StackSpec& stack) {
  const AttentionSpec& first = stack.layers.front().self_attention;
  for (const LayerSpec& layer : stack.layers) {
    if (!SameKv(first, layer.self_attention) ||
        (layer.cross_attention && !SameKv(first, *layer.cross_attention))) {
      return absl::InvalidArgumentError(
          "layers of a stack differ in key/value heads or head size, which is "
          "not supported");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Transformer::Stack> Transformer::LoadStack(
    Compute& compute, Weights& weights, const char* name, const char* table,
    int hidden, const StackSpec& spec, DType dtype, int max_rows) {
  RETURN_IF_ERROR(CheckKvShapes(spec));
  const EmbeddingSpec& embedding = spec.embedding;
  ASSIGN_OR_RETURN(Buffer<float> tokens,
                   weights.Read(table, {embedding.vocab, hidden}));
  Stack stack{.embedding = Embedding(std::move(tokens), hidden, embedding.scale,
                                     embedding.max_positions),
              .layers = {},
              .final_norm = std::nullopt};
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    ASSIGN_OR_RETURN(Layer layer,
                     LoadLayer(compute, weights, absl::StrCat(name, ".", i),
                               hidden, spec.layers[i], dtype, max_rows));
    stack.layers.push_back(std::move(layer));
  }
  if (spec.layers.front().norm_place == NormPlace::kPre) {
    ASSIGN_OR_RETURN(stack.final_norm,
                     LoadNorm(weights, absl::StrCat(name, ".norm"), hidden,
                              spec.layers.front().norm));
  }
  return stack;
}

absl::StatusOr<std::unique_ptr<Transformer>> Transformer::Load(
    Compute& compute, const TransformerSpec& spec, Weights& weights,
    DType dtype, int max_rows) {
  ATTEND_CHECK(spec.encoder.has_value() && spec.decoder.has_value());
  ASSIGN_OR_RETURN(Stack encoder,
                   LoadStack(compute, weights, "encoder", "source.embedding",
                             spec.hidden, *spec.encoder, dtype, max_rows));
  ASSIGN_OR_RETURN(Stack decoder,
                   LoadStack(compute, weights, "decoder", "target.embedding",
                             spec.hidden, *spec.decoder, dtype, max_rows));
  const int vocab = spec.decoder->embedding.vocab;
  ASSIGN_OR_RETURN(const Buffer<float> projection,
                   weights.Read("logits.weight", {vocab, spec.hidden}));
  Buffer<float> bias;
  if (spec.logits_bias) {
    ASSIGN_OR_RETURN(bias, weights.Read("logits.bias", {vocab}));
  }
  ASSIGN_OR_RETURN(Projection logits,
                   Projection::Create(
                       compute, dtype, {projection.data(), vocab, spec.hidden},
                       std::move(bias), std::min(max_rows, kMaxLogitsRows)));
  return std::unique_ptr<Transformer>(new Transformer(
      spec, dtype, std::move(encoder), std::move(decoder), std::move(logits)));
}

Transformer::Transformer(const TransformerSpec& spec, DType dtype,
                         Stack encoder, Stack decoder, Projection logits)
    : spec_(spec),
      dtype_(dtype),
      encoder_(std::move(encoder)),
      decoder_(std::move(decoder)),
      logits_(std::move(logits)) {
  // Multiplications of a row's matmuls: what dominates at any usual length.
  const int64_t hidden = spec.hidden;
  for (const LayerSpec& layer : spec.encoder->layers) {
    const AttentionSpec& attention = layer.self_attention;
    const int64_t query = int64_t{attention.heads} * attention.head_dim;
    const int64_t key_value =
        2 * int64_t{attention.kv_heads} * attention.head_dim;
    stage_costs_.push_back(hidden * (query + key_value));
    stage_costs_.push_back(hidden * (query + 2 * layer.feed_forward.width));
  }
  int64_t remember = 0;
  for (const LayerSpec& layer : spec.decoder->layers) {
    const AttentionSpec& attention = *layer.cross_attention;
    remember += hidden * 2 * attention.kv_heads * attention.head_dim;
  }
  stage_costs_.push_back(remember);
  for (int64_t cost : stage_costs_) row_cost_ += cost;
}

KvLayout Transformer::encoder_kv_layout() const {
  return LayoutOf(spec_.encoder->layers.front().self_attention, 1, DType::kF32);
}

KvLayout Transformer::decoder_kv_layout(DType dtype) const {
  const auto& layers = spec_.decoder->layers;
  return LayoutOf(layers.front().self_attention,
                  static_cast<int>(layers.size()), dtype);
}

int Transformer::encoder_query_width() const {
  return encoder_.layers.front().self_attention.shape().query_width();
}

int Transformer::EncodeRowsLeft(const EncodeState& state) const {
  int64_t cost = 0;
  for (int stage = state.stage(); stage < encode_stages(); ++stage) {
    const int rows = state.rows() - (stage == state.stage() ? state.row() : 0);
    cost += rows * stage_costs_[stage];
  }
  return static_cast<int>((cost + row_cost_ - 1) / row_cost_);
}

}  // namespace attend
