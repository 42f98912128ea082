// Phi-1, Phi-1.5 and Phi-2: Gunasekar et al. 2023.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kDefaults = {.activation = "gelu_new",
                                     .norm = NormKind::kLayerNorm,
                                     .norm_bias = Bias::kYes,
                                     .epsilon_key = "layer_norm_eps",
                                     .epsilon = 1e-5,
                                     .gated = false,
                                     .partial = true,
                                     .fraction = 0.5};

absl::Status AddNames(const JsonFile& config, NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", false));
  AddInAndOut(tied, {"model.embed_tokens.weight"}, {"lm_head.weight"}, names);
  AddTensor("logits.bias", {"lm_head.bias"}, names);
  AddWeights("decoder.norm", {"model.final_layernorm"}, Bias::kYes, names);
  AddLlamaOneNorm(Bias::kYes, names);
  AddLlamaQkv(Bias::kYes, names);
  static constexpr SlotName kMatrices[] = {{"self.out", "self_attn.dense"},
                                           {"ffn.in", "mlp.fc1"},
                                           {"ffn.out", "mlp.fc2"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kMatrices, Bias::kYes, names);
  AddUnused(LlamaLayerPrefixes(), {"self_attn.rotary_emb.inv_freq"}, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadPhi(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  family.spec.logits_bias = true;
  RETURN_IF_ERROR(AddNames(config, family.names));
  ASSIGN_OR_RETURN(const bool head_norms, config.BoolOr("qk_layernorm", false));
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.parallel = true;
    if (head_norms) layer.self_attention.head_norm = layer.norm;
  }
  if (head_norms) {
    static constexpr SlotName kNorms[] = {
        {"self.q.norm", "self_attn.q_layernorm"},
        {"self.k.norm", "self_attn.k_layernorm"}};
    AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kYes,
            family.names);
  }
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Phi", .both_ways = false}, family));
  return family;
}

}  // namespace attend
