#include "engine/families/encoder.h"
#include "engine/families/family.h"
#include "engine/families/fields.h"
#include "engine/families/heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// XLM-RoBERTa is RoBERTa with another vocabulary.
constexpr HeadClass kClasses[] = {
    {"RobertaModel"},
    {"RobertaForMaskedLM", HeadKind::kMaskedLm},
    {"RobertaForSequenceClassification", HeadKind::kSequence},
    {"RobertaForTokenClassification", HeadKind::kTokens},
    {"XLMRobertaModel"},
    {"XLMRobertaForMaskedLM", HeadKind::kMaskedLm},
    {"XLMRobertaForSequenceClassification", HeadKind::kSequence},
    {"XLMRobertaForTokenClassification", HeadKind::kTokens},
};

absl::Status AddRobertaHead(const JsonFile& config, HeadKind head,
                            Family& family) {
  const int hidden = family.spec.hidden;
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  switch (head) {
    case HeadKind::kSequence:
      AddHead(head,
              {{"classifier.dense", {hidden, Activation::kTanh}},
               {"classifier.out_proj", {}}},
              family);
      break;
    case HeadKind::kTokens:
      AddHead(head, {{"classifier", {}}}, family);
      break;
    case HeadKind::kMaskedLm:
      return AddMaskedLm(
          config,
          {"lm_head.dense",
           {hidden, Activation::kGelu, family.spec.encoder->layers[0].norm},
           "lm_head.layer_norm"},
          "lm_head.decoder", {"lm_head.decoder.bias", "lm_head.bias"}, family);
  }
  return absl::OkStatus();
}

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
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kClasses));
  if (head) RETURN_IF_ERROR(AddRobertaHead(config, *head, family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
