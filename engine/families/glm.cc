// GLM-4: GLM Team 2024; GLM-4-0414.

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

constexpr LlamaDefaults kDefaults = {.kv_heads = 2,
                                     .head_dim = 128,
                                     .epsilon = 1.5625e-7,
                                     .partial = true,
                                     .fraction = 0.5};

absl::Status AddMatrices(const JsonFile& config, Family& family) {
  ASSIGN_OR_RETURN(const Bias bias,
                   BiasFlag(config, "attention_bias", Bias::kYes));
  AddLlamaQkv(bias, family.names);
  InterleaveRotated(family);
  AddLlamaOut(Bias::kNo, family.names);
  AddLlamaPackedFeedForward(family.names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGlm(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  RETURN_IF_ERROR(AddLlamaTable(config, kDefaults, family.names));
  RETURN_IF_ERROR(AddMatrices(config, family));
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Glm", .padding_id = 151329, .both_ways = false},
      family));
  return family;
}

absl::StatusOr<Family> LoadGlm4(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  for (LayerSpec& layer : family.spec.decoder->layers) layer.branch_norm = true;
  RETURN_IF_ERROR(AddLlamaTable(config, kDefaults, family.names));
  static constexpr SlotName kNorms[] = {
      {"self.branch_norm", "post_self_attn_layernorm"},
      {"ffn.branch_norm", "post_mlp_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kNo, family.names);
  RETURN_IF_ERROR(AddMatrices(config, family));
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Glm4", .padding_id = 151329, .both_ways = false},
      family));
  return family;
}

}  // namespace attend
