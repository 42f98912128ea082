#include "tests/engine/transformer/variants.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// As Su et al. 2021 have them, of the first `dims` numbers of a head.
RotarySpec RotaryOf(double theta, int dims, float magnitude = 1) {
  RotarySpec spec;
  for (int i = 0; i < dims; i += 2) {
    spec.frequencies.push_back(
        static_cast<float>(std::pow(theta, -1.0 * i / dims)));
  }
  spec.magnitude = magnitude;
  return spec;
}

EmbeddingSpec EmbeddingOf(const Variant& variant, int vocab, int hidden) {
  EmbeddingSpec spec = {.vocab = vocab,
                        .width = variant.Cycle(4) == 1 ? 14 : hidden,
                        .scale = variant.Cycle(2) == 0 ? 2.0f : 1.0f,
                        .positions = Positions::kNone,
                        .max_positions = 64};
  if (variant.Cycle(3) == 0) spec.norm = NormSpec{.kind = variant.norm};
  if (variant.place == Place::kSinusoidal) {
    spec.positions = Positions::kSinusoidal;
  } else if (variant.place == Place::kToEnd) {
    spec.positions = Positions::kSinusoidalToEnd;
    spec.position_offset = 2;
    spec.uncounted_id = 1;
  } else if (variant.place == Place::kLearned) {
    spec.positions = Positions::kLearned;
    spec.position_offset = 3;
  }
  return spec;
}

StackSpec StackOf(const Variant& variant, int vocab, int hidden,
                  AttentionSpec attention, int layers) {
  static constexpr Activation kActivations[] = {
      Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
      Activation::kSilu, Activation::kTanh};
  attention.scale =
      variant.Cycle(2) == 0 ? 1 / std::sqrt(float(attention.head_dim)) : 0.5f;
  if (variant.place == Place::kRotary) {
    attention.rotary = variant.Cycle(2, 6) == 0
                           ? RotaryOf(500, attention.head_dim)
                           : RotaryOf(30, 4, 1.1f);
  }
  LayerSpec layer = {
      .norm = {.kind = variant.norm, .epsilon = 1e-4f},
      .norm_place = variant.norm_place,
      .self_attention = attention,
      .cross_attention = std::nullopt,
      .feed_forward = {.width = 30 + variant.index,
                       .activation = kActivations[variant.Cycle(5)],
                       .gated = variant.Cycle(2, 2) == 1}};
  StackSpec stack = {.embedding = EmbeddingOf(variant, vocab, hidden),
                     .layers = std::vector<LayerSpec>(layers, layer)};
  if (variant.place == Place::kRelative) {
    stack.relative_bias = {.buckets = 8, .max_distance = 11};
  }
  if (variant.Cycle(3) == 1) {
    stack.layers[1].feed_forward.experts = {
        .count = 4 + variant.Cycle(2),
        .chosen = 1 + variant.Cycle(4) % 3,
        .normalized = variant.Cycle(2) == 1};
  }
  if (variant.norm_place == NormPlace::kPost) {
    for (LayerSpec& of : stack.layers) of.sum_norm = variant.Cycle(4) == 2;
  }
  if (variant.place == Place::kWindow) {
    // Layers differ: the first sees all, and has no norm of its own.
    if (variant.norm_place == NormPlace::kPre)
      stack.layers[0].self_norm = false;
    for (int i = 1; i < layers; ++i) {
      stack.layers[i].self_attention.window = 5;
      stack.layers[i].self_attention.rotary = RotaryOf(100, attention.head_dim);
    }
  }
  return stack;
}

}  // namespace

std::string NameOf(const Variant& variant) {
  static constexpr const char* kPlaces[] = {"Sinusoidal", "ToEnd",  "Learned",
                                            "Relative",   "Rotary", "Window",
                                            "Distances"};
  return absl::StrCat(
      variant.norm == NormKind::kLayerNorm ? "LayerNorm" : "RmsNorm",
      variant.norm_place == NormPlace::kPre ? "Pre" : "Post",
      kPlaces[static_cast<int>(variant.place)]);
}

std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (NormKind norm : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    for (NormPlace norm_place : {NormPlace::kPost, NormPlace::kPre}) {
      for (Place place : {Place::kSinusoidal, Place::kToEnd, Place::kLearned,
                          Place::kRelative, Place::kRotary, Place::kWindow,
                          Place::kDistances}) {
        variants.push_back(
            {norm, norm_place, place, static_cast<int>(variants.size())});
      }
    }
  }
  return variants;
}

TransformerSpec SpecOf(const Variant& variant) {
  const bool grouped = variant.Cycle(2, 5) == 1;
  TransformerSpec spec;
  spec.hidden = 24;
  spec.logits_bias = variant.biases();
  spec.logits_scale = variant.Cycle(2) == 0 ? 1 : 0.3f;
  spec.encoder =
      StackOf(variant, 31, spec.hidden,
              {.heads = 4, .kv_heads = grouped ? 2 : 4, .head_dim = 6}, 2);
  const AttentionSpec attention = {
      .heads = 2, .kv_heads = grouped ? 1 : 2, .head_dim = 10, .scale = 0.4f};
  spec.decoder = StackOf(variant, 29, spec.hidden, attention, 3);
  spec.decoder->embedding.uncounted_id = -1;
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.cross_attention = attention;
  }
  if (variant.Cycle(2, 4) == 0) spec.encoder->embedding.token_types = 2;
  if (variant.place == Place::kDistances) {
    spec.encoder->distances = {.side = 7, .max_distance = 19};
    if (grouped) spec.encoder->distances->norm = NormSpec();
  }
  return spec;
}

}  // namespace attend
