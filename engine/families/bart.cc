// BART: Lewis et al. 2020.

#include "engine/families/shared/bart.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kBartClasses[] = {
    {"BartForConditionalGeneration"},
    {"BartModel"},
    {"BartForSequenceClassification", HeadKind::kSequence},
    {"BartForQuestionAnswering", HeadKind::kSpans},
};

// Fields of transformers before 4.0 that would change the model.
absl::Status CheckBartSupported(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(config, {"normalize_embedding"}, true));
  return ExpectFlags(
      config,
      {"normalize_before", "add_final_layer_norm", "add_bias_logits",
       "static_position_embeddings", "do_blenderbot_90_layernorm"},
      false);
}

}  // namespace

absl::StatusOr<Family> LoadBart(const JsonFile& config) {
  RETURN_IF_ERROR(CheckBartSupported(config));
  return LoadBartVariant(config, {.defaults = {.norm_place = NormPlace::kPost,
                                               .activation = "gelu",
                                               .scale_embedding = false},
                                  .classes = kBartClasses,
                                  .labels = 3});
}

}  // namespace attend
