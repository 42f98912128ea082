#include "engine/families/shared/llama_layers.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/layer_types.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<AttentionSpec> Attention(const JsonFile& config,
                                        const DecoderSizes& sizes,
                                        const LlamaDefaults& defaults) {
  AttentionSpec attention;
  attention.heads = sizes.heads;
  const int head_dim =
      defaults.head_dim > 0 ? defaults.head_dim : sizes.hidden / sizes.heads;
  ASSIGN_OR_RETURN(attention.head_dim,
                   NumberOr(config, "head_dim", head_dim, kHeadDim));
  ASSIGN_OR_RETURN(
      attention.kv_heads,
      NumberOr(config, "num_key_value_heads",
               defaults.kv_heads > 0 ? defaults.kv_heads : attention.heads,
               kHeads));
  if (attention.heads % attention.kv_heads != 0) {
    return config.Unexpected(
        "num_key_value_heads",
        absl::StrCat("a divisor of num_attention_heads, ", attention.heads));
  }
  attention.scale = 1 / std::sqrt(static_cast<float>(attention.head_dim));
  return attention;
}

}  // namespace

absl::StatusOr<TransformerSpec> LlamaSpec(const JsonFile& config,
                                          const LlamaDefaults& defaults) {
  ASSIGN_OR_RETURN(DecoderSizes sizes, ReadDecoderSizes(config, {}));
  LayerSpec layer;
  layer.norm.kind = defaults.norm;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, defaults.epsilon_key,
                             static_cast<float>(defaults.epsilon)));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.self_attention, Attention(config, sizes, defaults));
  ASSIGN_OR_RETURN(
      layer.self_attention.rotary,
      ReadRotaryOf(config, {.theta = defaults.theta,
                            .head_dim = layer.self_attention.head_dim,
                            .fraction = defaults.fraction,
                            .max_positions = sizes.max_positions,
                            .original_positions = defaults.original_positions,
                            .partial = defaults.partial,
                            .recomputes = defaults.recomputes}));
  ASSIGN_OR_RETURN(sizes.max_positions,
                   RotaryPositions(config, *layer.self_attention.rotary,
                                   sizes.max_positions));
  layer.feed_forward.gated = defaults.gated;
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"intermediate_size"}, kWidth));
  ASSIGN_OR_RETURN(
      layer.feed_forward.activation,
      ActivationOr(config, defaults.activation_key, defaults.activation));
  return DecoderOf(sizes, layer);
}

absl::Status SetWindows(const JsonFile& config, int window,
                        absl::FunctionRef<bool(int layer)> slides,
                        StackSpec& decoder) {
  const int layers = static_cast<int>(decoder.layers.size());
  ASSIGN_OR_RETURN(
      const std::vector<bool> full,
      FullLayers(config, layers, [&](int layer) { return !slides(layer); }));
  for (int i = 0; i < layers; ++i) {
    if (full[i]) continue;
    if (window < 2) return config.Unexpected("sliding_window", "2 or more");
    // sliding_window counts the token itself; AttentionSpec::window does not.
    decoder.layers[i].self_attention.window = window - 1;
  }
  return absl::OkStatus();
}

absl::Status SetQwenWindows(const JsonFile& config, StackSpec& decoder) {
  ASSIGN_OR_RETURN(const bool use, config.BoolOr("use_sliding_window", false));
  if (!use) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  ASSIGN_OR_RETURN(const int full,
                   NumberOr(config, "max_window_layers", 28, {0, kLayers.max}));
  return SetWindows(
      config, window, [&](int layer) { return layer >= full; }, decoder);
}

absl::Status SetWindowOfAll(const JsonFile& config, int fallback,
                            StackSpec& decoder) {
  if (config.IsNull("sliding_window")) fallback = 0;
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", fallback, kWindow));
  return SetWindows(
      config, window, [&](int) { return window > 0; }, decoder);
}

void AddLlamaHeadNorms(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.head_norm = layer.norm;
  }
  static constexpr SlotName kNorms[] = {{"self.q.norm", "self_attn.q_norm"},
                                        {"self.k.norm", "self_attn.k_norm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kNo, family.names);
}

void NormBranchesAlone(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_norm = layer.ffn_norm = false;
    layer.branch_norm = true;
  }
  static constexpr SlotName kNorms[] = {
      {"self.branch_norm", "post_attention_layernorm"},
      {"ffn.branch_norm", "post_feedforward_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kNo, family.names);
}

void InterleaveRotated(Family& family) {
  // Where layers without positions have the same order, products stay the same.
  const AttentionSpec& attention =
      family.spec.decoder->layers.front().self_attention;
  const int dims = attention.rotary ? attention.rotary->dims() : 0;
  for (NameRow& row : family.names.rows) {
    if (!absl::StartsWith(row.slot, "decoder.{}.self.q.") &&
        !absl::StartsWith(row.slot, "decoder.{}.self.k.")) {
      continue;
    }
    row.slices.interleaved = dims;
    row.slices.interleaved_of = attention.head_dim;
  }
}

const std::vector<std::string>& LlamaLayerPrefixes() {
  static const auto& prefixes =
      *new std::vector<std::string>{"model.layers.{}.", "layers.{}."};
  return prefixes;
}

absl::Status AddLlamaEmbeddings(const JsonFile& config,
                                const LlamaDefaults& defaults,
                                NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", defaults.tied));
  AddInAndOut(tied, {"model.embed_tokens.weight", "embed_tokens.weight"},
              {"lm_head.weight"}, names);
  AddWeights("decoder.norm", {"model.norm", "norm"}, defaults.norm_bias, names);
  // Buffers that transformers before 4.32 saved.
  AddUnused(LlamaLayerPrefixes(), {"self_attn.rotary_emb.inv_freq"}, names);
  return absl::OkStatus();
}

absl::Status AddLlamaTable(const JsonFile& config,
                           const LlamaDefaults& defaults, NameTable& names) {
  RETURN_IF_ERROR(AddLlamaEmbeddings(config, defaults, names));
  static constexpr SlotName kNorms[] = {
      {"self.norm", "input_layernorm"},
      {"ffn.norm", "post_attention_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, defaults.norm_bias,
          names);
  return absl::OkStatus();
}

void AddLlamaOneNorm(Bias bias, NameTable& names) {
  static constexpr SlotName kNorms[] = {{"self.norm", "input_layernorm"},
                                        {"ffn.norm", "input_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, bias, names);
}

void AddLlamaQkv(Bias bias, NameTable& names) {
  static constexpr SlotName kQkv[] = {{"self.q", "self_attn.q_proj"},
                                      {"self.k", "self_attn.k_proj"},
                                      {"self.v", "self_attn.v_proj"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kQkv, bias, names);
}

void AddLlamaOut(Bias bias, NameTable& names) {
  AddList("decoder.{}.", LlamaLayerPrefixes(),
          {{"self.out", "self_attn.o_proj"}}, bias, names);
}

void AddLlamaFeedForward(Bias bias, NameTable& names) {
  static constexpr SlotName kFeedForward[] = {{"ffn.gate", "mlp.gate_proj"},
                                              {"ffn.in", "mlp.up_proj"},
                                              {"ffn.out", "mlp.down_proj"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kFeedForward, bias, names);
}

void AddLlamaPlainFeedForward(Bias bias, NameTable& names) {
  static constexpr SlotName kFeedForward[] = {{"ffn.in", "mlp.up_proj"},
                                              {"ffn.out", "mlp.down_proj"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kFeedForward, bias, names);
}

void AddLlamaPackedFeedForward(NameTable& names) {
  static constexpr const char* kGated[] = {"ffn.gate", "ffn.in"};
  AddSlices("decoder.{}.", kGated,
            WithPrefixes(LlamaLayerPrefixes(), {"mlp.gate_up_proj"}), Bias::kNo,
            names);
  AddList("decoder.{}.", LlamaLayerPrefixes(), {{"ffn.out", "mlp.down_proj"}},
          Bias::kNo, names);
}

}  // namespace attend
