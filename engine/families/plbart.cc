// PLBART: Ahmad et al. 2021. BART of programs and texts.

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/bart.h"
#include "engine/families/shared/encoder_heads.h"

namespace attend {
namespace {

constexpr HeadClass kPlbartClasses[] = {
    {"PLBartForConditionalGeneration"},
    {"PLBartModel"},
    {"PLBartForSequenceClassification", HeadKind::kSequence},
};

}  // namespace

absl::StatusOr<Family> LoadPlbart(const JsonFile& config) {
  return LoadBartVariant(config, {.defaults = {.norm_place = NormPlace::kPost,
                                               .activation = "gelu",
                                               .scale_embedding = true},
                                  .classes = kPlbartClasses,
                                  .wraps_source = true});
}

}  // namespace attend
