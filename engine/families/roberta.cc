#include <string>

#include "absl/types/span.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// XLM-RoBERTa and CamemBERT are RoBERTa with other vocabularies.
constexpr HeadClass kRobertaClasses[] = {
    {"RobertaModel"},
    {"RobertaForMaskedLM", HeadKind::kMaskedLm},
    {"RobertaForSequenceClassification", HeadKind::kSequence},
    {"RobertaForTokenClassification", HeadKind::kTokens},
    {"RobertaForQuestionAnswering", HeadKind::kSpans},
    {"RobertaForMultipleChoice", HeadKind::kChoice},
    {"XLMRobertaModel"},
    {"XLMRobertaForMaskedLM", HeadKind::kMaskedLm},
    {"XLMRobertaForSequenceClassification", HeadKind::kSequence},
    {"XLMRobertaForTokenClassification", HeadKind::kTokens},
    {"XLMRobertaForQuestionAnswering", HeadKind::kSpans},
    {"XLMRobertaForMultipleChoice", HeadKind::kChoice},
    {"CamembertModel"},
    {"CamembertForMaskedLM", HeadKind::kMaskedLm},
    {"CamembertForSequenceClassification", HeadKind::kSequence},
    {"CamembertForTokenClassification", HeadKind::kTokens},
    {"CamembertForQuestionAnswering", HeadKind::kSpans},
    {"CamembertForMultipleChoice", HeadKind::kChoice},
};

// Data2Vec (Baevski et al. 2022) is RoBERTa, trained in another way.
constexpr HeadClass kData2VecClasses[] = {
    {"Data2VecTextModel"},
    {"Data2VecTextForMaskedLM", HeadKind::kMaskedLm},
    {"Data2VecTextForSequenceClassification", HeadKind::kSequence},
    {"Data2VecTextForTokenClassification", HeadKind::kTokens},
    {"Data2VecTextForQuestionAnswering", HeadKind::kSpans},
    {"Data2VecTextForMultipleChoice", HeadKind::kChoice},
};

// Norms before the branches: Ott et al. 2019.
constexpr HeadClass kPreNormClasses[] = {
    {"RobertaPreLayerNormModel"},
    {"RobertaPreLayerNormForMaskedLM", HeadKind::kMaskedLm},
    {"RobertaPreLayerNormForSequenceClassification", HeadKind::kSequence},
    {"RobertaPreLayerNormForTokenClassification", HeadKind::kTokens},
    {"RobertaPreLayerNormForQuestionAnswering", HeadKind::kSpans},
    {"RobertaPreLayerNormForMultipleChoice", HeadKind::kChoice},
};

// The same without a norm of the embeddings: Goyal et al. 2021.
constexpr HeadClass kXlClasses[] = {
    {"XLMRobertaXLModel"},
    {"XLMRobertaXLForMaskedLM", HeadKind::kMaskedLm},
    {"XLMRobertaXLForSequenceClassification", HeadKind::kSequence},
    {"XLMRobertaXLForTokenClassification", HeadKind::kTokens},
    {"XLMRobertaXLForQuestionAnswering", HeadKind::kSpans},
    {"XLMRobertaXLForMultipleChoice", HeadKind::kChoice},
};

absl::StatusOr<TransformerSpec> RobertaSpec(const JsonFile& config,
                                            float default_epsilon,
                                            int default_types) {
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", default_epsilon));
  ASSIGN_OR_RETURN(TransformerSpec spec, EncoderSpec(config, {}, epsilon));
  EmbeddingSpec& embedding = spec.encoder->embedding;
  ASSIGN_OR_RETURN(embedding.token_types, NumberOr(config, "type_vocab_size",
                                                   default_types, kTokenTypes));
  ASSIGN_OR_RETURN(const int pad,
                   NumberOr(config, "pad_token_id", 1, kTokenId));
  RETURN_IF_ERROR(CountFromPad(config, pad, embedding));
  return spec;
}

absl::Status AddHeads(const JsonFile& config,
                      absl::Span<const HeadClass> classes,
                      const std::string& prefix, Family& family) {
  RETURN_IF_ERROR(
      AddUsualHead(config, classes, RobertaHeads(family.spec, prefix), family));
  AddOldNormNames(family.names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadRoberta(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, RobertaSpec(config, 1e-12f, 2));
  const std::string prefix = "roberta.";
  AddBertNames(prefix, family.names);
  RETURN_IF_ERROR(AddHeads(config, kRobertaClasses, prefix, family));
  return family;
}

absl::StatusOr<Family> LoadXlmRoberta(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string positions,
                   config.StringOr("position_embedding_type", ""));
  if (positions == "rotary" || config.Has("lora_adaptations")) {
    return LoadXlmRobertaFlash(config);
  }
  return LoadRoberta(config);
}

absl::StatusOr<Family> LoadData2VecText(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, RobertaSpec(config, 1e-12f, 2));
  const std::string prefix = "data2vec_text.";
  AddBertNames(prefix, family.names);
  RETURN_IF_ERROR(AddHeads(config, kData2VecClasses, prefix, family));
  return family;
}

absl::StatusOr<Family> LoadRobertaPreNorm(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, RobertaSpec(config, 1e-12f, 2));
  const std::string prefix = "roberta_prelayernorm.";
  AddBertNames(prefix, family.names,
               {"attention.LayerNorm", "intermediate.LayerNorm"});
  MoveNorms(prefix, "LayerNorm", *family.spec.encoder, family.names);
  RETURN_IF_ERROR(AddHeads(config, kPreNormClasses, prefix, family));
  return family;
}

absl::StatusOr<Family> LoadXlmRobertaXl(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, RobertaSpec(config, 1e-5f, 1));
  family.spec.encoder->embedding.norm.reset();
  const std::string prefix = "roberta.";
  AddBertNames(prefix, family.names,
               {"attention.self_attn_layer_norm", "LayerNorm"});
  MoveNorms(prefix, "encoder.LayerNorm", *family.spec.encoder, family.names);
  RETURN_IF_ERROR(AddHeads(config, kXlClasses, prefix, family));
  return family;
}

}  // namespace attend
