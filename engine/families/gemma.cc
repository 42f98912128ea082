// Gemma 1 to 3: Gemma Team 2024, 2024, 2025.

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/layer_types.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kGemmaDefaults = {.activation = "gelu_pytorch_tanh",
                                          .activation_key = "hidden_activation",
                                          .kv_heads = 4,
                                          .head_dim = 256,
                                          .tied = true};
constexpr LlamaDefaults kFirstDefaults = {.activation = "gelu_pytorch_tanh",
                                          .kv_heads = 16,
                                          .head_dim = 256,
                                          .tied = true};
constexpr FloatRange kCap = {1e-3, 1e6};
constexpr char kBothWays[] = "use_bidirectional_attention";

// A cap; `fallback` if the key is absent, and no cap (0) if its value is null.
absl::StatusOr<float> Cap(const JsonFile& config, absl::string_view key,
                          float fallback) {
  if (config.IsNull(key)) return 0.0f;
  ASSIGN_OR_RETURN(const double cap, config.FloatOr(key, fallback, kCap));
  return static_cast<float>(cap);
}

// Gemma 1 was published with "gelu", which meant the tanh form.
absl::Status SetFirstActivation(const JsonFile& config, StackSpec& decoder) {
  ASSIGN_OR_RETURN(const std::string name, config.StringOr("hidden_act", ""));
  if (name != "gelu") return absl::OkStatus();
  for (LayerSpec& layer : decoder.layers) {
    layer.feed_forward.activation = Activation::kGeluTanh;
  }
  return absl::OkStatus();
}

// Returns true if the model is an encoder, as EmbeddingGemma is.
absl::StatusOr<bool> SeesBothWays(const JsonFile& config) {
  ASSIGN_OR_RETURN(const bool both, config.BoolOr(kBothWays, false));
  if (!both) return false;
  const char* const label = "ForSequenceClassification";
  ASSIGN_OR_RETURN(const std::string architecture,
                   Architecture(config, {"Gemma3ForCausalLM", label}));
  if (architecture == label) return config.Unexpected(kBothWays, "false");
  // is_causal false would widen the windows.
  RETURN_IF_ERROR(ExpectFlags(config, {"is_causal"}, true));
  return true;
}

// An encoder's sliding_window counts the tokens on both sides.
absl::Status HalveWindows(const JsonFile& config, StackSpec& stack) {
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  for (LayerSpec& layer : stack.layers) {
    int& own = layer.self_attention.window;
    if (own > 0) own = window / 2;
  }
  return absl::OkStatus();
}

// Sets what all share: scaled embeddings, norms stored as gamma - 1.
void SetShared(TransformerSpec& spec) {
  spec.decoder->embedding.scale = std::sqrt(static_cast<float>(spec.hidden));
  for (LayerSpec& layer : spec.decoder->layers) layer.norm.unit_offset = true;
}

// What Gemma 2 and 3 share besides: norms before and after each branch, caps of
// scores and logits.
absl::StatusOr<TransformerSpec> GemmaSpec(const JsonFile& config,
                                          float score_cap, float logits_cap) {
  ASSIGN_OR_RETURN(TransformerSpec spec, LlamaSpec(config, kGemmaDefaults));
  SetShared(spec);
  ASSIGN_OR_RETURN(const double scalar,
                   config.FloatOr("query_pre_attn_scalar", 256, {1e-3, 1e6}));
  ASSIGN_OR_RETURN(spec.logits_softcap,
                   Cap(config, "final_logit_softcapping", logits_cap));
  ASSIGN_OR_RETURN(const float cap,
                   Cap(config, "attn_logit_softcapping", score_cap));
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.branch_norm = true;
    layer.self_attention.scale = static_cast<float>(1 / std::sqrt(scalar));
    layer.self_attention.softcap = cap;
  }
  return spec;
}

// Sets the windows of the layers with sliding attention.
absl::Status SetSliding(const JsonFile& config, int pattern,
                        StackSpec& decoder) {
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  return SetWindows(
      config, window, [&](int layer) { return (layer + 1) % pattern != 0; },
      decoder);
}

absl::Status AddMatrices(const JsonFile& config, NameTable& names) {
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  AddLlamaQkv(attention, names);
  AddLlamaOut(attention, names);
  AddLlamaFeedForward(Bias::kNo, names);
  return absl::OkStatus();
}

absl::Status AddGemmaNames(const JsonFile& config, NameTable& names) {
  RETURN_IF_ERROR(AddLlamaEmbeddings(config, kGemmaDefaults, names));
  static constexpr SlotName kNorms[] = {
      {"self.norm", "input_layernorm"},
      {"self.branch_norm", "post_attention_layernorm"},
      {"ffn.norm", "pre_feedforward_layernorm"},
      {"ffn.branch_norm", "post_feedforward_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kNo, names);
  return AddMatrices(config, names);
}

// Sets the rotations of both types of layers. Files of transformers before 5
// have "rope_local_base_freq" for sliding attention.
absl::Status SetGemma3Rotary(const JsonFile& config, StackSpec& decoder) {
  const RotaryDefaults full = {
      .theta = 1e6,
      .head_dim = decoder.layers.front().self_attention.head_dim,
      .max_positions = decoder.embedding.max_positions};
  RotaryDefaults sliding = full;
  ASSIGN_OR_RETURN(sliding.theta,
                   config.FloatOr("rope_local_base_freq", 10000, kRotaryTheta));
  return SetRotaryByType(config, full, sliding, decoder);
}

}  // namespace

absl::StatusOr<Family> LoadGemma(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(config, {kBothWays}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kFirstDefaults));
  RETURN_IF_ERROR(SetFirstActivation(config, *family.spec.decoder));
  SetShared(family.spec);
  RETURN_IF_ERROR(AddLlamaTable(config, kFirstDefaults, family.names));
  RETURN_IF_ERROR(AddMatrices(config, family.names));
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Gemma", .padding_id = 0}, family));
  return family;
}

absl::StatusOr<Family> LoadGemma2(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(config, {kBothWays}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GemmaSpec(config, 50, 30));
  RETURN_IF_ERROR(SetSliding(config, 2, *family.spec.decoder));
  RETURN_IF_ERROR(AddGemmaNames(config, family.names));
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Gemma2", .padding_id = 0}, family));
  return family;
}

absl::StatusOr<Family> LoadGemma3(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GemmaSpec(config, 0, 0));
  ASSIGN_OR_RETURN(const int pattern, NumberOr(config, "sliding_window_pattern",
                                               6, {1, kLayers.max}));
  RETURN_IF_ERROR(SetSliding(config, pattern, *family.spec.decoder));
  ASSIGN_OR_RETURN(const bool both, SeesBothWays(config));
  if (both) RETURN_IF_ERROR(HalveWindows(config, *family.spec.decoder));
  RETURN_IF_ERROR(SetGemma3Rotary(config, *family.spec.decoder));
  AddLlamaHeadNorms(family);
  RETURN_IF_ERROR(AddGemmaNames(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Gemma3", .token_layer = "", .padding_id = 0}, family));
  if (both) RETURN_IF_ERROR(SeeBothWays(family));
  return family;
}

}  // namespace attend
