#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// XLM-RoBERTa is RoBERTa with another vocabulary.
constexpr HeadClass kRobertaClasses[] = {
    {"RobertaModel"},
    {"RobertaForMaskedLM", HeadKind::kMaskedLm},
    {"RobertaForSequenceClassification", HeadKind::kSequence},
    {"RobertaForTokenClassification", HeadKind::kTokens},
    {"XLMRobertaModel"},
    {"XLMRobertaForMaskedLM", HeadKind::kMaskedLm},
    {"XLMRobertaForSequenceClassification", HeadKind::kSequence},
    {"XLMRobertaForTokenClassification", HeadKind::kTokens},
};

}  // namespace

absl::StatusOr<Family> LoadRoberta(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  EmbeddingSpec& embedding = family.spec.encoder->embedding;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  ASSIGN_OR_RETURN(const int pad,
                   NumberOr(config, "pad_token_id", 1, kTokenId));
  RETURN_IF_ERROR(CountFromPad(config, pad, embedding));
  AddBertNames("roberta.", family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kRobertaClasses, RobertaHeads(family.spec), family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
