// Qwen3: Yang et al. 2025.

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Family> LoadQwen3(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  const LlamaDefaults defaults = {.kv_heads = 32, .head_dim = 128};
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(SetQwenWindows(config, *family.spec.decoder));
  AddLlamaHeadNorms(family);
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  AddLlamaQkv(attention, family.names);
  AddLlamaOut(attention, family.names);
  AddLlamaFeedForward(Bias::kNo, family.names);
  RETURN_IF_ERROR(UseDecoderAs(config, {.name = "Qwen3"}, family));
  return family;
}

}  // namespace attend
