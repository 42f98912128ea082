// ERNIE 1 to 3: Sun et al. 2019 to 2021. BERT with an embedding of the task.

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kErnieClasses[] = {
    {"ErnieModel"},
    {"ErnieForPreTraining", HeadKind::kMaskedLm},
    {"ErnieForMaskedLM", HeadKind::kMaskedLm},
    {"ErnieForSequenceClassification", HeadKind::kSequence},
    {"ErnieForTokenClassification", HeadKind::kTokens},
    {"ErnieForQuestionAnswering", HeadKind::kSpans},
    {"ErnieForMultipleChoice", HeadKind::kChoice},
};

}  // namespace

absl::StatusOr<Family> LoadErnie(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  EmbeddingSpec& embedding = family.spec.encoder->embedding;
  ASSIGN_OR_RETURN(embedding.token_types, NumberOr(config, "type_vocab_size", 2,
                                                   {1, kTokenTypes.max}));
  AddBertNames("ernie.", family.names);
  // Requests have task 0, as in transformers.
  ASSIGN_OR_RETURN(const bool tasks, config.BoolOr("use_task_id", false));
  if (tasks) {
    ASSIGN_OR_RETURN(
        embedding.task_types,
        NumberOr(config, "task_type_vocab_size", 3, {1, kTokenTypes.max}));
    AddTensor("encoder.embedding.tasks",
              WithPrefixes({"ernie.", ""},
                           {"embeddings.task_type_embeddings.weight"}),
              family.names);
  }
  AddUnused({"cls.seq_relationship."}, {"weight", "bias"}, family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kErnieClasses,
                               BertHeads(family.spec, "ernie."), family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
