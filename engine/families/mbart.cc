// mBART: Liu et al. 2020; mBART-50: Tang et al. 2020.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/bart.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kMbartClasses[] = {
    {"MBartForConditionalGeneration"},
    {"MBartModel"},
    {"MBartForSequenceClassification", HeadKind::kSequence},
    {"MBartForQuestionAnswering", HeadKind::kSpans},
};

// Fields of transformers before 4.0 that would change the model.
absl::Status CheckMbartSupported(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(
      config,
      {"normalize_before", "normalize_embedding", "add_final_layer_norm"},
      true));
  return ExpectFlags(config, {"add_bias_logits", "static_position_embeddings"},
                     false);
}

}  // namespace

absl::StatusOr<Family> LoadMbart(const JsonFile& config) {
  RETURN_IF_ERROR(CheckMbartSupported(config));
  // The decoder of a head starts with the last token, which in mBART is that of
  // the language.
  return LoadBartVariant(config, {.defaults = {.norm_place = NormPlace::kPre,
                                               .activation = "gelu",
                                               .scale_embedding = false},
                                  .classes = kMbartClasses,
                                  .wraps_source = true});
}

}  // namespace attend
