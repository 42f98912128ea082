#include "engine/families/encoder.h"
#include "engine/families/family.h"
#include "engine/families/fields.h"
#include "engine/families/heads.h"
#include "engine/families/names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kClasses[] = {
    {"BertModel"},
    {"BertForPreTraining", HeadKind::kMaskedLm},
    {"BertForMaskedLM", HeadKind::kMaskedLm},
    {"BertForSequenceClassification", HeadKind::kSequence},
    {"BertForTokenClassification", HeadKind::kTokens},
};

absl::Status AddBertHead(const JsonFile& config, HeadKind head,
                         Family& family) {
  const LayerSpec& layer = family.spec.encoder->layers[0];
  const int hidden = family.spec.hidden;
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  switch (head) {
    case HeadKind::kSequence:
      AddHead(head,
              {{"bert.pooler.dense", {hidden, Activation::kTanh}},
               {"classifier", {}}},
              family);
      break;
    case HeadKind::kTokens:
      AddHead(head, {{"classifier", {}}}, family);
      break;
    case HeadKind::kMaskedLm:
      return AddMaskedLm(
          config,
          {"cls.predictions.transform.dense",
           {hidden, layer.feed_forward.activation, layer.norm},
           "cls.predictions.transform.LayerNorm"},
          "cls.predictions.decoder",
          {"cls.predictions.decoder.bias", "cls.predictions.bias"}, family);
  }
  return absl::OkStatus();
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
  // Of the task that tells whether one sentence follows another.
  AddUnused({"cls.seq_relationship."}, {"weight", "bias"}, family.names);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kClasses));
  if (head) RETURN_IF_ERROR(AddBertHead(config, *head, family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
