// PEGASUS: Zhang et al. 2020.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Fields of transformers before 4.0 that would change the model.
absl::Status CheckPegasusSupported(const JsonFile& config) {
  RETURN_IF_ERROR(
      Architecture(config, {"PegasusForConditionalGeneration", "PegasusModel"})
          .status());
  RETURN_IF_ERROR(ExpectFlags(config,
                              {"normalize_before", "add_final_layer_norm",
                               "static_position_embeddings"},
                              true));
  return ExpectFlags(config, {"normalize_embedding", "add_bias_logits"}, false);
}

}  // namespace

absl::StatusOr<Family> LoadPegasus(const JsonFile& config) {
  RETURN_IF_ERROR(CheckPegasusSupported(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPre,
                                        .activation = "gelu",
                                        .scale_embedding = false}));
  if (family.spec.hidden % 2 != 0) {
    return config.Unexpected("d_model", "an even number, for the sinusoids");
  }
  AddUnusedPositions(family);
  AddFairseqLogitsBias(family);
  RETURN_IF_ERROR(AddFairseqTokens(config, family));
  AddFairseqLayers(family);
  return family;
}

}  // namespace attend
