// DeBERTa v2 and v3: He et al. 2021.

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/deberta.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kDebertaClasses[] = {
    {"DebertaV2Model"},
    {"DebertaV2ForMaskedLM", HeadKind::kMaskedLm},
    {"DebertaV2ForSequenceClassification", HeadKind::kSequence},
    {"DebertaV2ForTokenClassification", HeadKind::kTokens},
    {"DebertaV2ForQuestionAnswering", HeadKind::kSpans},
};

constexpr SlotName kQkv[] = {{"self.q", "attention.self.query_proj"},
                             {"self.k", "attention.self.key_proj"},
                             {"self.v", "attention.self.value_proj"}};
constexpr SlotName kShared[] = {
    {"self.distance_k", "attention.self.key_proj"},
    {"self.distance_q", "attention.self.query_proj"}};
constexpr SlotName kOwn[] = {
    {"self.distance_k", "attention.self.pos_key_proj"},
    {"self.distance_q", "attention.self.pos_query_proj"}};

}  // namespace

absl::StatusOr<Family> LoadDebertaV2(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, DebertaSpec(config));
  AddDebertaEncoder(*family.spec.encoder, family.names);
  AddList("encoder.{}.", DebertaLayerPrefixes(), kQkv, Bias::kYes,
          family.names);
  ASSIGN_OR_RETURN(const bool shared, config.BoolOr("share_att_key", false));
  AddList("encoder.{}.", DebertaLayerPrefixes(), shared ? kShared : kOwn,
          Bias::kYes, family.names);
  ASSIGN_OR_RETURN(const UsualHeads heads, DebertaHeads(config, family.spec));
  RETURN_IF_ERROR(AddUsualHead(config, kDebertaClasses, heads, family));
  AddDebertaHeadsUnused(family.names);
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
