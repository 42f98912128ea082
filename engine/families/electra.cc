#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
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

// The layers of ElectraForMultipleChoice.
absl::StatusOr<std::vector<HeadLayer>> ChoiceLayers(const JsonFile& config,
                                                    int hidden) {
  ASSIGN_OR_RETURN(const std::string summary,
                   config.StringOr("summary_type", "first"));
  if (summary != "first") return config.Unexpected("summary_type", "first");
  RETURN_IF_ERROR(ExpectFlags(config, {"summary_use_proj"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"summary_proj_to_labels"}, false));
  HeadLayer layer = {"sequence_summary.summary", {hidden}};
  if (!config.IsNull("summary_activation")) {
    ASSIGN_OR_RETURN(layer.spec.activation,
                     ActivationOr(config, "summary_activation", "gelu"));
  }
  return std::vector<HeadLayer>{layer, {"classifier", {1}}};
}

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
    ASSIGN_OR_RETURN(heads.choice, ChoiceLayers(config, family.spec.hidden));
  }
  RETURN_IF_ERROR(AddUsualHead(config, kElectraClasses, heads, family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
