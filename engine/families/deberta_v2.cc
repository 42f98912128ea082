// DeBERTa v2 and v3: He et al. 2021.

#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/deberta.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kDebertaClasses[] = {
    {"DebertaV2Model"},
    {"DebertaV2ForMaskedLM", HeadKind::kMaskedLm},
    {"DebertaV2ForSequenceClassification", HeadKind::kSequence},
    {"DebertaV2ForTokenClassification", HeadKind::kTokens},
    {"DebertaV2ForQuestionAnswering", HeadKind::kSpans},
    {"DebertaV2ForMultipleChoice", HeadKind::kChoice},
};

constexpr SlotName kQkv[] = {{"self.q", "attention.self.query_proj"},
                             {"self.k", "attention.self.key_proj"},
                             {"self.v", "attention.self.value_proj"}};
constexpr SlotName kShared[] = {
    {"self.distance_k", "attention.self.key_proj"},
    {"self.distance_q", "attention.self.query_proj"}};
constexpr SlotName kOwn[] = {
    {"self.distance_k", "attention.self.pos_key_proj"},
    {"self.distance_q", "attention.self.pos_query_proj"}};

// The convolution of XL and XXL.
absl::Status ReadConvolution(const JsonFile& config, Family& family) {
  constexpr char kSize[] = "conv_kernel_size";
  constexpr char kGroups[] = "conv_groups";
  StackSpec& encoder = *family.spec.encoder;
  const int hidden = family.spec.hidden;
  ASSIGN_OR_RETURN(const int size, NumberOr(config, kSize, 0, {0, 63}));
  if (size == 0) return absl::OkStatus();
  if (size % 2 == 0) return config.Unexpected(kSize, "an odd number");
  if (encoder.embedding.width != hidden) {
    return config.Unexpected("embedding_size",
                             "hidden_size, beside conv_kernel_size");
  }
  ConvolutionSpec spec = {.size = size, .norm = encoder.layers[0].norm};
  ASSIGN_OR_RETURN(spec.groups, NumberOr(config, kGroups, 1, {1, kHidden.max}));
  if (hidden % spec.groups != 0) {
    return config.Unexpected(kGroups, "a divisor of hidden_size");
  }
  ASSIGN_OR_RETURN(spec.activation, ActivationOr(config, "conv_act", "tanh"));
  encoder.convolution = spec;
  const std::vector<std::string> prefixes = {"deberta.encoder.conv.",
                                             "encoder.conv."};
  AddWeights("encoder.convolution", WithPrefixes(prefixes, {"conv"}),
             Bias::kYes, family.names);
  AddWeights("encoder.convolution.norm", WithPrefixes(prefixes, {"LayerNorm"}),
             Bias::kYes, family.names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadDebertaV2(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, DebertaSpec(config));
  AddDebertaEncoder(*family.spec.encoder, family.names);
  RETURN_IF_ERROR(ReadConvolution(config, family));
  AddList("encoder.{}.", DebertaLayerPrefixes(), kQkv, Bias::kYes,
          family.names);
  ASSIGN_OR_RETURN(const bool shared, config.BoolOr("share_att_key", false));
  AddList("encoder.{}.", DebertaLayerPrefixes(), shared ? kShared : kOwn,
          Bias::kYes, family.names);
  ASSIGN_OR_RETURN(const UsualHeads heads, DebertaHeads(config, family.spec));
  RETURN_IF_ERROR(AddUsualHead(config, kDebertaClasses, heads, family));
  AddDebertaHeadsUnused(family.names);
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
