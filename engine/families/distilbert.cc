#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kDistilBertClasses[] = {
    {"DistilBertModel"},
    {"DistilBertForMaskedLM", HeadKind::kMaskedLm},
    {"DistilBertForSequenceClassification", HeadKind::kSequence},
    {"DistilBertForTokenClassification", HeadKind::kTokens},
    {"DistilBertForQuestionAnswering", HeadKind::kSpans},
    {"DistilBertForMultipleChoice", HeadKind::kChoice},
};

constexpr SlotName kLayer[] = {
    {"self.q", "attention.q_lin"},  {"self.k", "attention.k_lin"},
    {"self.v", "attention.v_lin"},  {"self.out", "attention.out_lin"},
    {"self.norm", "sa_layer_norm"}, {"ffn.in", "ffn.lin1"},
    {"ffn.out", "ffn.lin2"},        {"ffn.norm", "output_layer_norm"},
};

UsualHeads Heads(const TransformerSpec& spec) {
  const LayerSpec& layer = spec.encoder->layers[0];
  return {
      .sequence = {{"pre_classifier", {spec.hidden, Activation::kRelu}},
                   {"classifier", {}}},
      .choice = {{"pre_classifier", {spec.hidden, Activation::kRelu}},
                 {"classifier", {1}}},
      .masked_lm = {"vocab_transform",
                    {spec.hidden, layer.feed_forward.activation, layer.norm},
                    "vocab_layer_norm"},
      .decoder = "vocab_projector",
      .decoder_bias = {"vocab_projector.bias"}};
}

}  // namespace

absl::StatusOr<Family> LoadDistilBert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config,
                                            {.hidden = "dim",
                                             .layers = "n_layers",
                                             .heads = "n_heads",
                                             .width = "hidden_dim",
                                             .activation = "activation"},
                                            1e-12f));
  AddBertEmbeddings("distilbert.", family.names);
  AddList("encoder.{}.",
          {"distilbert.transformer.layer.{}.", "transformer.layer.{}."}, kLayer,
          Bias::kYes, family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kDistilBertClasses, Heads(family.spec), family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
