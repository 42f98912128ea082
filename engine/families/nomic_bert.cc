// Nomic Embed: Nussbaum et al. 2024.

#include <string>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Configurations that came before the family was in transformers have GPT-2's
// words.
constexpr char kOldHidden[] = "n_embd";
constexpr EncoderKeys kOldKeys = {.hidden = kOldHidden,
                                  .layers = "n_layer",
                                  .heads = "n_head",
                                  .width = "n_inner",
                                  .positions = "n_positions"};

// What the old words may also say is not supported: those models have other
// layers.
absl::Status CheckOld(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(
      config,
      {"causal", "prenorm", "parallel_block", "qkv_proj_bias", "mlp_fc1_bias",
       "mlp_fc2_bias", "rotary_emb_interleaved", "use_rms_norm"},
      false));
  RETURN_IF_ERROR(config.ExpectNeutral("moe_every_n_layers", 0));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_emb_fraction", 1));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_emb_scale_base", 0));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_scaling_factor", 0));
  constexpr char kActivation[] = "activation_function";
  ASSIGN_OR_RETURN(const std::string activation,
                   config.StringOr(kActivation, "swiglu"));
  if (activation == "swiglu") return absl::OkStatus();
  return config.Unexpected(kActivation, "swiglu");
}

absl::StatusOr<TransformerSpec> NomicBertSpec(const JsonFile& config,
                                              bool old) {
  ASSIGN_OR_RETURN(
      const float epsilon,
      EpsilonOr(config, old ? "layer_norm_epsilon" : "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(
      TransformerSpec spec,
      EncoderSpec(config, old ? kOldKeys : EncoderKeys(), epsilon, "silu"));
  EmbeddingSpec& embedding = spec.encoder->embedding;
  embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  const int head_dim = spec.encoder->layers[0].self_attention.head_dim;
  RETURN_IF_ERROR(
      config.IntOr("head_dim", head_dim, {head_dim, head_dim}).status());
  if (head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  RotaryDefaults rotary = {.theta = 1000,
                           .head_dim = head_dim,
                           .max_positions = embedding.max_positions};
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("rotary_emb_base", 1000, kRotaryTheta));
  ASSIGN_OR_RETURN(const RotarySpec rotation, ReadRotaryOf(config, rotary));
  for (LayerSpec& layer : spec.encoder->layers) {
    layer.self_attention.rotary = rotation;
    layer.feed_forward.gated = true;
  }
  return spec;
}

void AddNomicBertNames(bool types, NameTable& names) {
  AddTensor("encoder.embedding.tokens", {"embeddings.word_embeddings.weight"},
            names);
  if (types) {
    AddTensor("encoder.embedding.types",
              {"embeddings.token_type_embeddings.weight"}, names);
  }
  AddWeights("encoder.embedding.norm", {"emb_ln"}, Bias::kYes, names);
  const std::string layer = "encoder.layers.{}.";
  static constexpr SlotName kNorms[] = {{"self.norm", "norm1"},
                                        {"ffn.norm", "norm2"}};
  AddList("encoder.{}.", {layer}, kNorms, Bias::kYes, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, {layer + "attn.Wqkv"}, Bias::kNo, names);
  static constexpr SlotName kMatrices[] = {{"self.out", "attn.out_proj"},
                                           {"ffn.in", "mlp.fc11"},
                                           {"ffn.gate", "mlp.fc12"},
                                           {"ffn.out", "mlp.fc2"}};
  AddList("encoder.{}.", {layer}, kMatrices, Bias::kNo, names);
}

}  // namespace

absl::StatusOr<Family> LoadNomicBert(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"NomicBertModel"}).status());
  const bool old = config.Has(kOldHidden);
  if (old) RETURN_IF_ERROR(CheckOld(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, NomicBertSpec(config, old));
  AddNomicBertNames(family.spec.encoder->embedding.token_types > 0,
                    family.names);
  return family;
}

}  // namespace attend
