// Llama 1 to 3: Touvron et al. 2023, Grattafiori et al. 2024; SmolLM.

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Family> LoadLlama(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  const LlamaDefaults defaults;
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  ASSIGN_OR_RETURN(const Bias feed_forward, BiasFlag(config, "mlp_bias"));
  AddLlamaQkv(attention, family.names);
  AddLlamaOut(attention, family.names);
  AddLlamaFeedForward(feed_forward, family.names);
  RETURN_IF_ERROR(UseDecoderAs(config, {.name = "Llama"}, family));
  return family;
}

}  // namespace attend
