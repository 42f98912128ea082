// M2M-100: Fan et al. 2021; NLLB: NLLB Team 2022.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Fields of transformers before 4.0 that would change the model.
absl::Status CheckM2m100Supported(const JsonFile& config) {
  RETURN_IF_ERROR(
      Architecture(config, {"M2M100ForConditionalGeneration", "M2M100Model"})
          .status());
  RETURN_IF_ERROR(ExpectFlags(config,
                              {"normalize_before", "add_final_layer_norm",
                               "static_position_embeddings"},
                              true));
  return ExpectFlags(config, {"normalize_embedding", "add_bias_logits"}, false);
}

}  // namespace

absl::StatusOr<Family> LoadM2m100(const JsonFile& config) {
  RETURN_IF_ERROR(CheckM2m100Supported(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPre,
                                        .activation = "relu",
                                        .scale_embedding = true}));
  RETURN_IF_ERROR(UseCountedSinusoids(config, family));
  RETURN_IF_ERROR(AddFairseqTokens(config, family));
  AddFairseqLayers(family);
  return family;
}

}  // namespace attend
