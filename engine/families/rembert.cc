// RemBERT: Chung et al. 2021. Tables of input and output have widths of their
// own.

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kRemBertClasses[] = {
    {"RemBertModel"},
    {"RemBertForMaskedLM", HeadKind::kMaskedLm},
    {"RemBertForSequenceClassification", HeadKind::kSequence},
    {"RemBertForTokenClassification", HeadKind::kTokens},
    {"RemBertForQuestionAnswering", HeadKind::kSpans},
    {"RemBertForMultipleChoice", HeadKind::kChoice},
};

}  // namespace

absl::StatusOr<Family> LoadRemBert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  const TransformerSpec& spec = family.spec;
  EmbeddingSpec& embedding = family.spec.encoder->embedding;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  constexpr char kSize[] = "input_embedding_size";
  ASSIGN_OR_RETURN(embedding.width, NumberOr(config, kSize, 256, kHidden));
  if (embedding.width == spec.hidden) {
    // The projection is there all the same.
    return config.Unexpected(kSize, "another number than hidden_size");
  }
  AddBertNames("rembert.", family.names);
  AddWeights(
      "encoder.embedding.projection",
      WithPrefixes({"rembert.", ""}, {"encoder.embedding_hidden_mapping_in"}),
      Bias::kYes, family.names);
  UsualHeads heads = BertHeads(spec, "rembert.");
  heads.masked_lm.tensor = "cls.predictions.dense";
  heads.masked_lm.norm = "cls.predictions.LayerNorm";
  ASSIGN_OR_RETURN(heads.masked_lm.spec.out,
                   NumberOr(config, "output_embedding_size", 1664, kHidden));
  heads.decoder_bias = {"cls.predictions.decoder.bias"};
  RETURN_IF_ERROR(AddUsualHead(config, kRemBertClasses, heads, family));
  return family;
}

}  // namespace attend
