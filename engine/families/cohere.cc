// Command R and R+, Aya: Cohere 2024; Command R7B and A: Cohere 2024, 2025.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kSecondDefaults = {.norm = NormKind::kLayerNorm,
                                           .epsilon_key = "layer_norm_eps",
                                           .epsilon = 1e-5,
                                           .tied = true};

LlamaDefaults FirstDefaults() {
  LlamaDefaults defaults = kSecondDefaults;
  defaults.theta = 500000;
  return defaults;
}

// Both branches of a layer read one norm, and logits are scaled.
absl::StatusOr<Family> CohereFamily(const JsonFile& config,
                                    const LlamaDefaults& defaults) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  for (LayerSpec& layer : family.spec.decoder->layers) layer.parallel = true;
  ASSIGN_OR_RETURN(const double scale,
                   config.FloatOr("logit_scale", 0.0625, {1e-6, 1e6}));
  family.spec.logits_scale = static_cast<float>(scale);
  RETURN_IF_ERROR(AddLlamaEmbeddings(config, defaults, family.names));
  AddLlamaOneNorm(Bias::kNo, family.names);
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "attention_bias"));
  AddLlamaQkv(bias, family.names);
  InterleaveRotated(family);
  AddLlamaOut(bias, family.names);
  AddLlamaFeedForward(Bias::kNo, family.names);
  return family;
}

// One tensor has a norm for each head, a row each (Command R+). Its numbers
// stand as those of queries and keys do.
void AddHeadNorms(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.head_norm = layer.norm;
    layer.self_attention.norm_by_head = true;
  }
  const AttentionSpec& attention =
      family.spec.decoder->layers.front().self_attention;
  const auto add = [&](const char* name, int heads) {
    for (int head = 0; head < heads; ++head) {
      AddTensor(
          absl::StrCat("decoder.{}.self.", name, ".norm.", head, ".weight"),
          WithPrefixes(LlamaLayerPrefixes(),
                       {absl::StrCat("self_attn.", name, "_norm.weight")}),
          family.names);
      family.names.rows.back().slices = {
          .first = head,
          .total = heads,
          .interleaved_columns = attention.head_dim};
    }
  };
  add("q", attention.heads);
  add("k", attention.kv_heads);
}

// Layers that see all tokens have no positions.
absl::Status SetLayerTypes(const JsonFile& config, StackSpec& decoder) {
  if (config.IsNull("sliding_window")) {
    return config.Unexpected("sliding_window", "a number");
  }
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  ASSIGN_OR_RETURN(const int pattern, NumberOr(config, "sliding_window_pattern",
                                               4, {1, kLayers.max}));
  RETURN_IF_ERROR(SetWindows(
      config, window, [&](int layer) { return (layer + 1) % pattern != 0; },
      decoder));
  for (LayerSpec& layer : decoder.layers) {
    if (layer.self_attention.window == 0) layer.self_attention.rotary.reset();
  }
  return absl::OkStatus();
}

absl::Status UseAs(const JsonFile& config, const std::string& name,
                   Family& family) {
  return UseDecoderAs(
      config,
      {.name = name, .token_layer = "", .padding_id = 0, .both_ways = false},
      family);
}

}  // namespace

absl::StatusOr<Family> LoadCohere(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, CohereFamily(config, FirstDefaults()));
  ASSIGN_OR_RETURN(const bool head_norms, config.BoolOr("use_qk_norm", false));
  if (head_norms) AddHeadNorms(family);
  RETURN_IF_ERROR(UseAs(config, "Cohere", family));
  return family;
}

absl::StatusOr<Family> LoadCohere2(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, CohereFamily(config, kSecondDefaults));
  RETURN_IF_ERROR(SetLayerTypes(config, *family.spec.decoder));
  RETURN_IF_ERROR(UseAs(config, "Cohere2", family));
  return family;
}

}  // namespace attend
