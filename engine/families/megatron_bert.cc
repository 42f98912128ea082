// MegatronBERT: Shoeybi et al. 2019. BERT with norms before the branches.

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kMegatronClasses[] = {
    {"MegatronBertModel"},
    {"MegatronBertForPreTraining", HeadKind::kMaskedLm},
    {"MegatronBertForMaskedLM", HeadKind::kMaskedLm},
    {"MegatronBertForSequenceClassification", HeadKind::kSequence},
    {"MegatronBertForTokenClassification", HeadKind::kTokens},
    {"MegatronBertForQuestionAnswering", HeadKind::kSpans},
    {"MegatronBertForMultipleChoice", HeadKind::kChoice},
};

}  // namespace

absl::StatusOr<Family> LoadMegatronBert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  EmbeddingSpec& embedding = family.spec.encoder->embedding;
  embedding.norm.reset();
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  AddBertNames("bert.", family.names, {"attention.ln", "ln"});
  MoveNorms("bert.", "encoder.ln", *family.spec.encoder, family.names);
  AddUnused({"cls.seq_relationship."}, {"weight", "bias"}, family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kMegatronClasses,
                               BertHeads(family.spec, "bert."), family));
  return family;
}

}  // namespace attend
