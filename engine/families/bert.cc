#include <string>

#include "engine/families/encoder_as_decoder.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/stanford_colbert.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kNextSentence[] = "cls.seq_relationship";

constexpr HeadClass kBertClasses[] = {
    {"BertModel"},
    {kStanfordColbert},
    {"BertForPreTraining", HeadKind::kMaskedLm},
    {"BertForMaskedLM", HeadKind::kMaskedLm},
    {"BertForSequenceClassification", HeadKind::kSequence},
    {"BertForNextSentencePrediction", HeadKind::kSequence, kNextSentence},
    {"BertForTokenClassification", HeadKind::kTokens},
    {"BertForQuestionAnswering", HeadKind::kSpans},
    {"BertForMultipleChoice", HeadKind::kChoice},
};

}  // namespace

absl::StatusOr<Family> LoadBert(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string positions,
                   config.StringOr("position_embedding_type", ""));
  if (positions == "alibi") return LoadJinaBert(config);
  ASSIGN_OR_RETURN(const bool decodes, config.BoolOr("is_decoder", false));
  if (decodes) return LoadDecoderAlone(config);
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  ASSIGN_OR_RETURN(family.spec.encoder->embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  AddBertNames("bert.", family.names);
  // The head that predicts whether one sentence follows another.
  AddUnused({"cls.seq_relationship."}, {"weight", "bias"}, family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kBertClasses,
                               BertHeads(family.spec, "bert."), family));
  ASSIGN_OR_RETURN(const HeadClass* const named, ClassOf(config, kBertClasses));
  // The head that predicts whether one sentence follows another has labels by
  // its definition; those of config.json are of another head.
  if (named != nullptr && named->last == kNextSentence) {
    family.labels = {"is_next", "not_next"};
  }
  family.stanford_colbert = named != nullptr && named->name == kStanfordColbert;
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
