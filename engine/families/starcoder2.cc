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

// Llama's layers, but with LayerNorm, and a feed-forward network without gate.
constexpr LlamaDefaults kStarcoder2Defaults = {
    .activation = "gelu_pytorch_tanh",
    .kv_heads = 2,
    .norm = NormKind::kLayerNorm,
    .norm_bias = Bias::kYes,
    .epsilon_key = "norm_epsilon",
    .epsilon = 1e-5,
    .gated = false,
    .tied = true};

absl::Status AddStarcoder2Names(const JsonFile& config, NameTable& names) {
  RETURN_IF_ERROR(AddLlamaTable(config, kStarcoder2Defaults, names));
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
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kStarcoder2Defaults));
  RETURN_IF_ERROR(SetWindowOfAll(config, 0, *family.spec.decoder));
  RETURN_IF_ERROR(AddStarcoder2Names(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(config, {.name = "Starcoder2"}, family));
  return family;
}

}  // namespace attend
