#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/sequence_summary.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The head of ElectraForPreTraining, which finds replaced tokens, is not used:
// only the encoder is.
constexpr HeadClass kElectraClasses[] = {
    {"ElectraModel"},
    {"ElectraForPreTraining"},
    {"ElectraForMaskedLM", HeadKind::kMaskedLm},
    {"ElectraForSequenceClassification", HeadKind::kSequence},
    {"ElectraForTokenClassification", HeadKind::kTokens},
    {"ElectraForQuestionAnswering", HeadKind::kSpans},
    {"ElectraForMultipleChoice", HeadKind::kChoice},
};

UsualHeads Heads(const TransformerSpec& spec) {
  return {.sequence = {{"classifier.dense", {spec.hidden, Activation::kGelu}},
                       {"classifier.out_proj", {}}},
          .masked_lm = {"generator_predictions.dense",
                        {spec.encoder->embedding.width, Activation::kGelu,
                         spec.encoder->layers[0].norm},
                        "generator_predictions.LayerNorm"},
          .decoder = "generator_lm_head",
          .decoder_bias = {"generator_lm_head.bias"}};
}

}  // namespace

absl::StatusOr<Family> LoadElectra(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  EmbeddingSpec& embedding = family.spec.encoder->embedding;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  ASSIGN_OR_RETURN(embedding.width,
                   NumberOr(config, "embedding_size", 128, kHidden));
  AddBertNames("electra.", family.names);
  AddWeights("encoder.embedding.projection",
             {"electra.embeddings_project", "embeddings_project"}, Bias::kYes,
             family.names);
  AddUnused({"discriminator_predictions.dense.",
             "discriminator_predictions.dense_prediction."},
            {"weight", "bias"}, family.names);
  UsualHeads heads = Heads(family.spec);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kElectraClasses));
  if (head == HeadKind::kChoice) {
    RETURN_IF_ERROR(ReadSequenceSummary(
        config, family.spec.hidden,
        {.type = "first", .projects = true, .activation = "gelu"}, heads));
  }
  RETURN_IF_ERROR(AddUsualHead(config, kElectraClasses, heads, family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
