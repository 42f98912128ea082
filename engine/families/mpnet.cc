#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kMpnetClasses[] = {
    {"MPNetModel"},
    {"MPNetForMaskedLM", HeadKind::kMaskedLm},
    {"MPNetForSequenceClassification", HeadKind::kSequence},
    {"MPNetForTokenClassification", HeadKind::kTokens},
    {"MPNetForQuestionAnswering", HeadKind::kSpans},
    {"MPNetForMultipleChoice", HeadKind::kChoice},
};

constexpr SlotName kLayer[] = {
    {"self.q", "attention.attn.q"},       {"self.k", "attention.attn.k"},
    {"self.v", "attention.attn.v"},       {"self.out", "attention.attn.o"},
    {"self.norm", "attention.LayerNorm"}, {"ffn.in", "intermediate.dense"},
    {"ffn.out", "output.dense"},          {"ffn.norm", "output.LayerNorm"},
};

// Numbers that are constants in transformers' code, whatever config.json says.
constexpr int kPad = 1;
constexpr int kBuckets = 32;
constexpr int kMaxDistance = 128;

}  // namespace

absl::StatusOr<Family> LoadMpnet(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  StackSpec& encoder = *family.spec.encoder;
  RETURN_IF_ERROR(CountFromPad(config, kPad, encoder.embedding));
  RETURN_IF_ERROR(NumberOr(config, "relative_attention_num_buckets", kBuckets,
                           {kBuckets, kBuckets})
                      .status());
  encoder.relative_bias = {.buckets = kBuckets, .max_distance = kMaxDistance};
  AddBertEmbeddings("mpnet.", family.names);
  AddTensor("encoder.relative_bias",
            {"mpnet.encoder.relative_attention_bias.weight",
             "encoder.relative_attention_bias.weight"},
            family.names);
  AddList("encoder.{}.", {"mpnet.encoder.layer.{}.", "encoder.layer.{}."},
          kLayer, Bias::kYes, family.names);
  AddUnused({"mpnet.", ""}, {"pooler.dense.weight", "pooler.dense.bias"},
            family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kMpnetClasses,
                               RobertaHeads(family.spec, "mpnet."), family));
  AddOldNormNames(family.names);
  return family;
}

}  // namespace attend
