#include "engine/families/ctranslate2/ct2_layers.h"

#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The activations by number. The fifth, x times the sigmoid of 1.702 x, is not
// computed.
absl::StatusOr<Activation> ActivationOf(const std::string& name,
                                        Ct2Attributes& attributes) {
  constexpr std::optional<Activation> kActivations[] = {
      Activation::kRelu, Activation::kGeluTanh, Activation::kSilu,
      Activation::kGelu, std::nullopt,          Activation::kTanh};
  constexpr int kLast = std::size(kActivations) - 1;
  ASSIGN_OR_RETURN(const int number, attributes.Int(name, {0, kLast}));
  if (kActivations[number]) return *kActivations[number];
  return attributes.Unexpected(
      name, "0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 5 (tanh)");
}

// Scales the frequencies by the kind of scaling that the file has: none, linear
// (0) or Llama 3's (2).
absl::Status ScaleFrequencies(const std::string& prefix,
                              Ct2Attributes& attributes,
                              std::vector<float>& frequencies) {
  constexpr FloatRange kScale = {1e-3, 1e6};
  const std::string name = prefix + "rotary_scaling_type";
  ASSIGN_OR_RETURN(const int type, attributes.Int(name, {-1, 2}, -1));
  if (type == 1) {
    return attributes.Unexpected(name, "0 (linear) or 2 (Llama 3)");
  }
  ASSIGN_OR_RETURN(
      const float factor,
      attributes.Float(prefix + "rotary_scaling_factor", kScale, 1));
  if (type != 2) {
    for (float& frequency : frequencies) frequency /= factor;
    return absl::OkStatus();
  }
  // CTranslate2's converter writes neither the factor nor the length, and its
  // programs then do not scale.
  Llama3Scaling scaling = {.factor = factor};
  ASSIGN_OR_RETURN(scaling.original_positions,
                   attributes.Int(prefix + "original_max_position_embeddings",
                                  {0, kPositions.max}, 0));
  ASSIGN_OR_RETURN(
      scaling.low_freq_factor,
      attributes.Float(prefix + "rotary_low_freq_factor", kScale, 1));
  ASSIGN_OR_RETURN(scaling.high_freq_factor,
                   attributes.Float(prefix + "rotary_high_freq_factor",
                                    {scaling.low_freq_factor + 1e-3, 1e6}, 4));
  ScaleLlama3(scaling, frequencies);
  return absl::OkStatus();
}

// The rotation of self-attention; nullopt if there is none.
absl::StatusOr<std::optional<RotarySpec>> Rotary(const std::string& prefix,
                                                 int head_dim,
                                                 Ct2Attributes& attributes) {
  const std::string dims_name = prefix + "rotary_dim";
  if (!attributes.Find(dims_name)) return std::optional<RotarySpec>();
  ASSIGN_OR_RETURN(int dims, attributes.Int(dims_name, {0, head_dim}));
  if (dims == 0) dims = head_dim;
  if (dims % 2 != 0) return attributes.Unexpected(dims_name, "an even number");
  RETURN_IF_ERROR(attributes.Expect(prefix + "rotary_interleave", 0));
  ASSIGN_OR_RETURN(const float theta, attributes.Float(prefix + "rotary_base",
                                                       kRotaryTheta, 10000));
  RotarySpec rotary = {.frequencies = RotaryFrequencies(theta, dims)};
  RETURN_IF_ERROR(ScaleFrequencies(prefix, attributes, rotary.frequencies));
  return std::make_optional(std::move(rotary));
}

// Queries are divided by the root of a head's size unless the file says
// otherwise.
absl::Status SetScale(const std::string& prefix, Ct2Attributes& attributes,
                      AttentionSpec& attention) {
  RETURN_IF_ERROR(attributes.Expect(prefix + "head_dim", attention.head_dim));
  ASSIGN_OR_RETURN(
      attention.scale,
      attributes.Float(prefix + "queries_scale", {1e-6, 1e6},
                       1 / std::sqrt(static_cast<float>(attention.head_dim))));
  return absl::OkStatus();
}

absl::StatusOr<AttentionSpec> SelfAttention(const Ct2Source& source,
                                            const std::string& prefix,
                                            int heads) {
  Ct2Attributes& attributes = source.attributes;
  AttentionSpec attention = {.heads = heads};
  ASSIGN_OR_RETURN(attention.kv_heads,
                   attributes.Int(prefix + "num_heads_kv", kHeads, heads));
  if (heads % attention.kv_heads != 0) {
    return attributes.Unexpected(prefix + "num_heads_kv",
                                 absl::StrCat("a divisor of ", heads));
  }
  const std::string qkv = prefix + "linear_0/weight";
  const int total = heads + 2 * attention.kv_heads;
  ASSIGN_OR_RETURN(
      const std::vector<int> shape,
      Ct2Shape(source.model, qkv, {total, total * kHeadDim.max}, kHidden));
  attention.head_dim = shape[0] / total;
  if (shape[0] % total != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.model.path(), ": variable ", qkv, " has ", shape[0],
                     " rows, expected a multiple of ", total,
                     ", the heads of queries (", heads, "), keys and values"));
  }
  RETURN_IF_ERROR(SetScale(prefix, attributes, attention));
  ASSIGN_OR_RETURN(attention.rotary,
                   Rotary(prefix, attention.head_dim, attributes));
  if (source.model.Has(prefix + "q_norm/gamma")) {
    ASSIGN_OR_RETURN(attention.head_norm, Ct2Norm(source, prefix + "q_norm"));
  }
  return attention;
}

absl::StatusOr<AttentionSpec> CrossAttention(const Ct2Source& source,
                                             const std::string& prefix,
                                             int heads) {
  RETURN_IF_ERROR(source.attributes.Expect(prefix + "num_heads_kv", heads));
  AttentionSpec attention = {.heads = heads, .kv_heads = heads};
  const std::string queries = prefix + "linear_0/weight";
  ASSIGN_OR_RETURN(
      const std::vector<int> shape,
      Ct2Shape(source.model, queries, {heads, heads * kHeadDim.max}, kHidden));
  attention.head_dim = shape[0] / heads;
  if (shape[0] % heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        source.model.path(), ": variable ", queries, " has ", shape[0],
        " rows, expected a multiple of ", heads, ", the heads"));
  }
  RETURN_IF_ERROR(SetScale(prefix, source.attributes, attention));
  return attention;
}

// What all layers of a stack share.
struct Shared {
  int heads = 0;
  NormPlace norm_place = NormPlace::kPost;
  Activation activation = Activation::kRelu;
};

absl::StatusOr<LayerSpec> Layer(const Ct2Source& source,
                                const std::string& prefix,
                                const Shared& shared) {
  const std::string self = prefix + "self_attention/";
  LayerSpec layer;
  layer.norm_place = shared.norm_place;
  ASSIGN_OR_RETURN(layer.norm, Ct2Norm(source, self + "layer_norm"));
  ASSIGN_OR_RETURN(layer.self_attention,
                   SelfAttention(source, self, shared.heads));
  if (source.model.Has(prefix + "attention/linear_0/weight")) {
    ASSIGN_OR_RETURN(
        layer.cross_attention,
        CrossAttention(source, prefix + "attention/", shared.heads));
  }
  ASSIGN_OR_RETURN(
      const std::vector<int> shape,
      Ct2Shape(source.model, prefix + "ffn/linear_0/weight", kWidth, kHidden));
  layer.feed_forward = {
      .width = shape[0],
      .activation = shared.activation,
      .gated = source.model.Has(prefix + "ffn/linear_0_noact/weight")};
  return layer;
}

}  // namespace

absl::StatusOr<std::vector<int>> Ct2Shape(const Ct2Model& model,
                                          const std::string& name,
                                          IntRange rows, IntRange cols) {
  ASSIGN_OR_RETURN(const TensorView view, model.Find(name));
  const auto within = [&](size_t dim, IntRange range) {
    return view.shape[dim] >= range.min && view.shape[dim] <= range.max;
  };
  if (view.shape.size() == 2 && within(0, rows) && within(1, cols)) {
    return std::vector<int>{static_cast<int>(view.shape[0]),
                            static_cast<int>(view.shape[1])};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      view.place, " has shape ", ShapeText(view.shape), ", expected [",
      rows.min, " to ", rows.max, ", ", cols.min, " to ", cols.max, "]"));
}

absl::StatusOr<NormSpec> Ct2Norm(const Ct2Source& source,
                                 absl::string_view name) {
  const bool has_beta = source.model.Has(absl::StrCat(name, "/beta"));
  NormSpec norm;
  norm.kind = has_beta ? NormKind::kLayerNorm : NormKind::kRmsNorm;
  ASSIGN_OR_RETURN(norm.epsilon, EpsilonOr(source.config, "layer_norm_epsilon",
                                           has_beta ? 1e-5f : 1e-6f));
  return norm;
}

absl::StatusOr<std::vector<LayerSpec>> Ct2Layers(const Ct2Source& source,
                                                 const std::string& stack) {
  Shared shared;
  ASSIGN_OR_RETURN(shared.heads,
                   source.attributes.Int(stack + "/num_heads", kHeads));
  ASSIGN_OR_RETURN(const bool pre, source.attributes.Flag(stack + "/pre_norm"));
  shared.norm_place = pre ? NormPlace::kPre : NormPlace::kPost;
  ASSIGN_OR_RETURN(shared.activation,
                   ActivationOf(stack + "/activation", source.attributes));
  std::vector<LayerSpec> layers;
  for (;;) {
    const std::string prefix =
        absl::StrCat(stack, "/layer_", layers.size(), "/");
    if (!source.model.Has(prefix + "self_attention/linear_0/weight")) break;
    ASSIGN_OR_RETURN(LayerSpec layer, Layer(source, prefix, shared));
    layers.push_back(std::move(layer));
  }
  if (layers.empty() || layers.size() > static_cast<size_t>(kLayers.max)) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.model.path(), ": ", layers.size(),
                     " layers with self_attention/linear_0/weight in ", stack,
                     ", expected 1 to ", kLayers.max));
  }
  return layers;
}

}  // namespace attend
