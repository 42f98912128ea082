// EuroBERT: Boizard et al. 2025. Llama's layers, in both directions.

#include <string>
#include <utility>

#include "absl/strings/strip.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kEuroBertClasses[] = {
    {"EuroBertModel"},
    {"EuroBertForMaskedLM", HeadKind::kMaskedLm},
    {"EuroBertForSequenceClassification", HeadKind::kSequence},
    {"EuroBertForTokenClassification", HeadKind::kTokens},
};

// Makes the decoder an encoder, and renames its slots.
void MakeEncoder(Family& family) {
  family.spec.encoder = std::move(family.spec.decoder);
  family.spec.decoder.reset();
  for (NameRow& row : family.names.rows) {
    absl::string_view slot = row.slot;
    if (absl::ConsumePrefix(&slot, "decoder.")) {
      row.slot = "encoder." + std::string(slot);
    }
  }
}

absl::Status ReadPoolingOf(const JsonFile& config, HeadSpec& head) {
  constexpr char kPooling[] = "classifier_pooling";
  ASSIGN_OR_RETURN(const std::string pooling,
                   config.StringOr(kPooling, "late"));
  if (pooling != "bos" && pooling != "mean" && pooling != "late") {
    return config.Unexpected(kPooling, "bos, mean or late");
  }
  head.pooling = pooling == "bos" ? Pooling::kCls : Pooling::kMean;
  head.pools_outputs = pooling == "late";
  return absl::OkStatus();
}

absl::Status AddHeadOf(const JsonFile& config, HeadKind head, Bias bias,
                       Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  switch (head) {
    case HeadKind::kSequence: {
      AddHead(head,
              {{"dense", {family.spec.hidden, Activation::kGelu}},
               {"classifier", {}}},
              family);
      RETURN_IF_ERROR(ReadPoolingOf(config, *family.spec.head));
      break;
    }
    case HeadKind::kTokens:
      AddHead(head, {{"classifier", {}}}, family);
      break;
    case HeadKind::kMaskedLm:
      AddHead(head, {}, family);
      family.spec.logits_bias = bias == Bias::kYes;
      if (family.spec.logits_bias) {
        AddTensor("logits.bias", {"lm_head.bias"}, family.names);
      }
      break;
    case HeadKind::kSpans:
    case HeadKind::kChoice:
      break;  // no class has them
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadEuroBert(const JsonFile& config) {
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kEuroBertClasses));
  RETURN_IF_ERROR(
      ExpectFlags(config, {"is_decoder", "add_cross_attention"}, false));
  const LlamaDefaults defaults = {.epsilon = 1e-5};
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  ASSIGN_OR_RETURN(const Bias mlp, BiasFlag(config, "mlp_bias"));
  AddLlamaQkv(attention, family.names);
  AddLlamaOut(attention, family.names);
  AddLlamaFeedForward(mlp, family.names);
  MakeEncoder(family);
  if (head) {
    RETURN_IF_ERROR(AddHeadOf(config, *head, mlp, family));
  }
  if (family.spec.LogitsVocab() == 0) {
    AddUnused({"lm_head."}, {"weight", "bias"}, family.names);
  }
  return family;
}

}  // namespace attend
