// Blenderbot: Roller et al. 2020, in both of its shapes.

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/fairseq.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<Family> Load(const JsonFile& config, NormPlace norm_place) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, FairseqSpec(config, {.norm_place = norm_place,
                                                     .activation = "gelu"}));
  UseLearnedPositions(0, family);
  AddFairseqLogitsBias(family);
  RETURN_IF_ERROR(AddFairseqTokens(config, family));
  AddFairseqLayers(family);
  return family;
}

}  // namespace

absl::StatusOr<Family> LoadBlenderbot(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"BlenderbotForConditionalGeneration",
                                        "BlenderbotModel"})
                      .status());
  return Load(config, NormPlace::kPre);
}

absl::StatusOr<Family> LoadBlenderbotSmall(const JsonFile& config) {
  RETURN_IF_ERROR(
      Architecture(config, {"BlenderbotSmallForConditionalGeneration",
                            "BlenderbotSmallModel"})
          .status());
  ASSIGN_OR_RETURN(Family family, Load(config, NormPlace::kPost));
  UseEmbeddingNorms(family);
  // The decoder's tokens are not scaled, and get their norm before positions
  // are added.
  EmbeddingSpec& target = family.spec.decoder->embedding;
  target.scale = 1;
  target.norms_tokens = true;
  return family;
}

}  // namespace attend
