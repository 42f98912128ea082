#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kBertClasses[] = {
    {"BertModel"},
    {"BertForPreTraining", HeadKind::kMaskedLm},
    {"BertForMaskedLM", HeadKind::kMaskedLm},
    {"BertForSequenceClassification", HeadKind::kSequence},
    {"BertForTokenClassification", HeadKind::kTokens},
};

UsualHeads Heads(const TransformerSpec& spec) {
  const LayerSpec& layer = spec.encoder->layers[0];
  return {
      .sequence = {{"bert.pooler.dense", {spec.hidden, Activation::kTanh}},
                   {"classifier", {}}},
      .masked_lm = {"cls.predictions.transform.dense",
                    {spec.hidden, layer.feed_forward.activation, layer.norm},
                    "cls.predictions.transform.LayerNorm"},
      .decoder = "cls.predictions.decoder",
      .decoder_bias = {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
}

}  // namespace

absl::StatusOr<Family> LoadBert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  ASSIGN_OR_RETURN(family.spec.encoder->embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  AddBertNames("bert.", family.names);
  // The head that predicts whether one sentence follows another.
  AddUnused({"cls.seq_relationship."}, {"weight", "bias"}, family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kBertClasses, Heads(family.spec), family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
