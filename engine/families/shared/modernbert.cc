#include "engine/families/shared/modernbert.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/layer_types.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The rotations of layers that see all tokens and of those that see some.
struct Rotations {
  RotarySpec global, local;
};

absl::StatusOr<Rotations> ReadRotations(const JsonFile& config,
                                        const StackSpec& stack) {
  RotaryDefaults rotary = {.head_dim = stack.layers[0].self_attention.head_dim,
                           .max_positions = stack.embedding.max_positions};
  Rotations rotations;
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("global_rope_theta", 160000, kRotaryTheta));
  ASSIGN_OR_RETURN(rotations.global,
                   RotaryOfType(config, kFullAttention, rotary));
  // null, in the first versions of transformers, meant the global theta.
  const double theta = config.IsNull("local_rope_theta") ? rotary.theta : 10000;
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("local_rope_theta", theta, kRotaryTheta));
  ASSIGN_OR_RETURN(rotations.local,
                   RotaryOfType(config, kSlidingAttention, rotary));
  return rotations;
}

}  // namespace

absl::StatusOr<ModernBertBiases> ReadModernBertBiases(const JsonFile& config) {
  ModernBertBiases biases;
  const std::pair<const char*, Bias*> flags[] = {
      {"norm_bias", &biases.norm},
      {"attention_bias", &biases.attention},
      {"mlp_bias", &biases.feed_forward},
      {"classifier_bias", &biases.classifier},
  };
  for (const auto& [key, bias] : flags) {
    ASSIGN_OR_RETURN(*bias, BiasFlag(config, key));
  }
  ASSIGN_OR_RETURN(biases.decoder, config.BoolOr("decoder_bias", true));
  return biases;
}

absl::Status ReadModernBertLayers(const JsonFile& config, bool causal,
                                  StackSpec& stack) {
  if (stack.layers[0].self_attention.head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  ASSIGN_OR_RETURN(
      const int every,
      NumberOr(config, "global_attn_every_n_layers", 3, {1, kLayers.max}));
  ASSIGN_OR_RETURN(const std::vector<bool> full,
                   FullLayers(config, static_cast<int>(stack.layers.size()),
                              [&](int i) { return i % every == 0; }));
  ASSIGN_OR_RETURN(const Rotations rotations, ReadRotations(config, stack));
  // local_attention counts the tokens on both sides; a decoder's half of it
  // counts the token itself, too.
  ASSIGN_OR_RETURN(
      const int window,
      NumberOr(config, "local_attention", 128,
               {causal ? 4 : 2, 2 * static_cast<int>(kPositions.max)}));
  for (size_t i = 0; i < full.size(); ++i) {
    LayerSpec& layer = stack.layers[i];
    layer.norm_place = NormPlace::kPre;
    layer.self_norm = i > 0;  // the embeddings' norm is the first layer's
    layer.feed_forward.gated = true;
    layer.self_attention.rotary = full[i] ? rotations.global : rotations.local;
    layer.self_attention.window = full[i] ? 0 : window / 2 - (causal ? 1 : 0);
  }
  return absl::OkStatus();
}

std::vector<std::string> ModernBertNames(const char* name) {
  return {absl::StrCat("model.", name), name};
}

void AddModernBertLayers(const std::string& stack,
                         const ModernBertBiases& biases, NameTable& names) {
  AddWeights(stack + ".embedding.norm", ModernBertNames("embeddings.norm"),
             biases.norm, names);
  AddWeights(stack + ".norm", ModernBertNames("final_norm"), biases.norm,
             names);
  const std::string slot = stack + ".{}.";
  const std::vector<std::string> layer = ModernBertNames("layers.{}.");
  static constexpr SlotName kNorms[] = {{"self.norm", "attn_norm"},
                                        {"ffn.norm", "mlp_norm"}};
  AddList(slot, layer, kNorms, biases.norm, names);
  AddList(slot, layer, {{"self.out", "attn.Wo"}}, biases.attention, names);
  static constexpr const char* kGateAndIn[] = {"ffn.gate", "ffn.in"};
  AddSlices(slot, kGateAndIn, WithPrefixes(layer, {"mlp.Wi"}),
            biases.feed_forward, names);
  AddList(slot, layer, {{"ffn.out", "mlp.Wo"}}, biases.feed_forward, names);
}

}  // namespace attend
