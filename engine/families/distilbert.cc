#include "engine/families/encoder.h"
#include "engine/families/family.h"
#include "engine/families/fields.h"
#include "engine/families/heads.h"
#include "engine/families/names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kClasses[] = {
    {"DistilBertModel"},
    {"DistilBertForMaskedLM", HeadKind::kMaskedLm},
    {"DistilBertForSequenceClassification", HeadKind::kSequence},
    {"DistilBertForTokenClassification", HeadKind::kTokens},
};

constexpr SlotName kLayer[] = {
    {"self.q", "attention.q_lin"},  {"self.k", "attention.k_lin"},
    {"self.v", "attention.v_lin"},  {"self.out", "attention.out_lin"},
    {"self.norm", "sa_layer_norm"}, {"ffn.in", "ffn.lin1"},
    {"ffn.out", "ffn.lin2"},        {"ffn.norm", "output_layer_norm"},
};

absl::Status AddDistilBertHead(const JsonFile& config, HeadKind head,
                               Family& family) {
  const LayerSpec& layer = family.spec.encoder->layers[0];
  const int hidden = family.spec.hidden;
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  switch (head) {
    case HeadKind::kSequence:
      AddHead(
          head,
          {{"pre_classifier", {hidden, Activation::kRelu}}, {"classifier", {}}},
          family);
      break;
    case HeadKind::kTokens:
      AddHead(head, {{"classifier", {}}}, family);
      break;
    case HeadKind::kMaskedLm:
      return AddMaskedLm(config,
                         {"vocab_transform",
                          {hidden, layer.feed_forward.activation, layer.norm},
                          "vocab_layer_norm"},
                         "vocab_projector", {"vocab_projector.bias"}, family);
  }
  return absl::OkStatus();
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
          Parts::kWeightAndBias, family.names);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kClasses));
  if (head) RETURN_IF_ERROR(AddDistilBertHead(config, *head, family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
