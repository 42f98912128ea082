// RoFormer: Su et al. 2021. BERT with rotary positions.

#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/sequence_summary.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kRoFormerClasses[] = {
    {"RoFormerModel"},
    {"RoFormerForMaskedLM", HeadKind::kMaskedLm},
    {"RoFormerForSequenceClassification", HeadKind::kSequence},
    {"RoFormerForTokenClassification", HeadKind::kTokens},
    {"RoFormerForQuestionAnswering", HeadKind::kSpans},
    {"RoFormerForMultipleChoice", HeadKind::kChoice},
};

constexpr double kTheta = 10000;

// Numbers that are rotated together stand together.
void Interleave(const AttentionSpec& attention, NameTable& names) {
  const int head_dim = attention.head_dim;
  for (NameRow& row : names.rows) {
    const auto has = [&](const char* slot) {
      return row.slot.starts_with(slot);
    };
    const bool value = attention.rotates_values && has("encoder.{}.self.v.");
    if (has("encoder.{}.self.q.") || has("encoder.{}.self.k.") || value) {
      row.slices.interleaved = head_dim;
    }
    // The outputs of attention stand together as the values do.
    if (attention.rotates_values && row.slot == "encoder.{}.self.out.weight") {
      row.slices.interleaved_columns = head_dim;
    }
  }
}

UsualHeads Heads(const TransformerSpec& spec) {
  const LayerSpec& layer = spec.encoder->layers[0];
  const Activation activation = layer.feed_forward.activation;
  UsualHeads heads = BertHeads(spec, "");
  heads.sequence = {{"classifier.dense", {spec.hidden, activation}},
                    {"classifier.out_proj", {}}};
  heads.masked_lm.spec.out = spec.encoder->embedding.width;
  return heads;
}

}  // namespace

absl::StatusOr<Family> LoadRoFormer(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  ASSIGN_OR_RETURN(const bool values, config.BoolOr("rotary_value", false));
  StackSpec& encoder = *family.spec.encoder;
  EmbeddingSpec& embedding = encoder.embedding;
  embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  ASSIGN_OR_RETURN(embedding.width, NumberOr(config, "embedding_size",
                                             family.spec.hidden, kHidden));
  const int head_dim = encoder.layers[0].self_attention.head_dim;
  if (head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  for (LayerSpec& layer : encoder.layers) {
    layer.self_attention.rotary = {RotaryFrequencies(kTheta, head_dim)};
    layer.self_attention.rotates_values = values;
  }
  const std::vector<std::string> prefixes = {"roformer.", ""};
  AddBertNames("roformer.", family.names);
  Interleave(encoder.layers[0].self_attention, family.names);
  AddWeights("encoder.embedding.projection",
             WithPrefixes(prefixes, {"embeddings_project"}), Bias::kYes,
             family.names);
  AddUnused(prefixes, {"encoder.embed_positions.weight"}, family.names);
  UsualHeads heads = Heads(family.spec);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kRoFormerClasses));
  if (head == HeadKind::kChoice) {
    RETURN_IF_ERROR(ReadSequenceSummary(config, family.spec.hidden, {}, heads));
  }
  RETURN_IF_ERROR(AddUsualHead(config, kRoFormerClasses, heads, family));
  return family;
}

}  // namespace attend
