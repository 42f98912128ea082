// PLBART: Ahmad et al. 2021. BART of programs and texts.

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Family> LoadPlbart(const JsonFile& config) {
  RETURN_IF_ERROR(
      Architecture(config, {"PLBartForConditionalGeneration", "PLBartModel"})
          .status());
  Family family;
  ASSIGN_OR_RETURN(family.spec,
                   FairseqSpec(config, {.norm_place = NormPlace::kPost,
                                        .activation = "gelu",
                                        .scale_embedding = true}));
  UseBartEmbeddings(family);
  AddFairseqLogitsBias(family);
  RETURN_IF_ERROR(AddFairseqTokens(config, family));
  AddFairseqLayers(family);
  return family;
}

}  // namespace attend
