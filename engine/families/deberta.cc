// DeBERTa: He et al. 2021.

#include "engine/families/shared/deberta.h"

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kClasses[] = {
    {"DebertaModel"},
    {"DebertaForMaskedLM", HeadKind::kMaskedLm},
    {"DebertaForSequenceClassification", HeadKind::kSequence},
    {"DebertaForTokenClassification", HeadKind::kTokens},
    {"DebertaForQuestionAnswering", HeadKind::kSpans},
};

// Queries and values have biases, keys have none.
void AddQkv(const AttentionSpec& attention, NameTable& names) {
  const auto in_layers = [](const char* tensor) {
    return WithPrefixes(DebertaLayerPrefixes(), {tensor});
  };
  AddHeadSlices("encoder.{}.", attention, in_layers("attention.self.in_proj"),
                Bias::kNo, names);
  AddTensor("encoder.{}.self.q.bias", in_layers("attention.self.q_bias"),
            names);
  AddTensor("encoder.{}.self.v.bias", in_layers("attention.self.v_bias"),
            names);
  AddWeights("encoder.{}.self.distance_k", in_layers("attention.self.pos_proj"),
             Bias::kNo, names);
  AddWeights("encoder.{}.self.distance_q",
             in_layers("attention.self.pos_q_proj"), Bias::kYes, names);
}

}  // namespace

absl::StatusOr<Family> LoadDeberta(const JsonFile& config) {
  // Later versions have these.
  RETURN_IF_ERROR(config.ExpectNeutral("position_buckets", -1));
  RETURN_IF_ERROR(config.ExpectNeutral("conv_kernel_size", 0));
  RETURN_IF_ERROR(ExpectFlags(config, {"talking_head"}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, DebertaSpec(config));
  StackSpec& encoder = *family.spec.encoder;
  if (encoder.distances) encoder.distances->norm.reset();
  AddDebertaEncoder(encoder, family.names);
  AddQkv(encoder.layers[0].self_attention, family.names);
  ASSIGN_OR_RETURN(const UsualHeads heads, DebertaHeads(config, family.spec));
  RETURN_IF_ERROR(AddUsualHead(config, kClasses, heads, family));
  AddDebertaHeadsUnused(family.names);
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
