// StarCoder2: Lozhkov et al. 2024.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kStarcoder2Defaults = {
    .activation = "gelu_pytorch_tanh", .kv_heads = 2};

// Llama's layers, but with LayerNorm, and a feed-forward network without gate.
absl::StatusOr<TransformerSpec> Starcoder2Spec(const JsonFile& config) {
  ASSIGN_OR_RETURN(TransformerSpec spec,
                   LlamaSpec(config, kStarcoder2Defaults));
  NormSpec norm;
  ASSIGN_OR_RETURN(norm.epsilon, EpsilonOr(config, "norm_epsilon", 1e-5f));
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.norm = norm;
    layer.feed_forward.gated = false;
  }
  RETURN_IF_ERROR(SetWindowOfAll(config, 0, *spec.decoder));
  return spec;
}

absl::Status AddStarcoder2Names(const JsonFile& config, NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, {"model.embed_tokens.weight", "embed_tokens.weight"},
              {"lm_head.weight"}, names);
  AddWeights("decoder.norm", {"model.norm", "norm"}, Bias::kYes, names);
  static constexpr SlotName kNorms[] = {
      {"self.norm", "input_layernorm"},
      {"ffn.norm", "post_attention_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kYes, names);
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "use_bias", Bias::kYes));
  AddLlamaQkv(bias, names);
  AddLlamaOut(bias, names);
  static constexpr SlotName kFeedForward[] = {{"ffn.in", "mlp.c_fc"},
                                              {"ffn.out", "mlp.c_proj"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kFeedForward, bias, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadStarcoder2(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, Starcoder2Spec(config));
  RETURN_IF_ERROR(AddStarcoder2Names(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(config, {.name = "Starcoder2"}, family));
  return family;
}

}  // namespace attend
