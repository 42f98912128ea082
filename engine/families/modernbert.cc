#include "engine/families/shared/modernbert.h"

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

constexpr HeadClass kModernBertClasses[] = {
    {"ModernBertModel"},
    {"ModernBertForMaskedLM", HeadKind::kMaskedLm},
    {"ModernBertForSequenceClassification", HeadKind::kSequence},
    {"ModernBertForTokenClassification", HeadKind::kTokens},
    {"ModernBertForQuestionAnswering", HeadKind::kSpans},
    {"ModernBertForMultipleChoice", HeadKind::kChoice},
};

void AddNames(const ModernBertBiases& biases, NameTable& names) {
  AddTensor("encoder.embedding.tokens",
            ModernBertNames("embeddings.tok_embeddings.weight"), names);
  AddModernBertLayers("encoder", biases, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv,
            WithPrefixes(ModernBertNames("layers.{}."), {"attn.Wqkv"}),
            biases.attention, names);
}

absl::Status AddModernBertHead(const JsonFile& config, HeadKind head,
                               const ModernBertBiases& biases, Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  ASSIGN_OR_RETURN(const Activation activation,
                   ActivationOr(config, "classifier_activation", "gelu"));
  const HeadLayer layer = {
      "head.dense",
      {family.spec.hidden, activation, family.spec.encoder->layers[0].norm},
      "head.norm",
      biases.classifier,
      biases.norm};
  if (head == HeadKind::kMaskedLm) {
    std::vector<std::string> bias;
    if (biases.decoder) bias.push_back("decoder.bias");
    return AddMaskedLm(config, layer, "decoder", bias, family);
  }
  // 0: the number of labels.
  const int out = head == HeadKind::kSpans    ? 2
                  : head == HeadKind::kChoice ? 1
                                              : 0;
  AddHead(head, {layer, {"classifier", {out}}}, family);
  ASSIGN_OR_RETURN(const std::string pooling,
                   config.StringOr("classifier_pooling", "cls"));
  if (pooling != "cls" && pooling != "mean") {
    return config.Unexpected("classifier_pooling", "cls or mean");
  }
  if (!ReadsTokens(head) && pooling == "mean") {
    family.spec.head->pooling = Pooling::kMean;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadModernBert(const JsonFile& config) {
  RETURN_IF_ERROR(config.ExpectNeutral("rope_scaling", 0));
  Family family;
  ASSIGN_OR_RETURN(const float epsilon, EpsilonOr(config, "norm_eps", 1e-5f));
  ASSIGN_OR_RETURN(
      family.spec,
      EncoderSpec(config, {.activation = "hidden_activation"}, epsilon));
  family.spec.encoder->embedding.positions = Positions::kNone;
  RETURN_IF_ERROR(ReadModernBertLayers(config, false, *family.spec.encoder));
  ASSIGN_OR_RETURN(const ModernBertBiases biases, ReadModernBertBiases(config));
  AddNames(biases, family.names);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kModernBertClasses));
  if (head) {
    RETURN_IF_ERROR(AddModernBertHead(config, *head, biases, family));
  }
  return family;
}

}  // namespace attend
