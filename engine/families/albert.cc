// ALBERT: Lan et al. 2020. Layers share weights, and the embedding is narrow.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kAlbertClasses[] = {
    {"AlbertModel"},
    {"AlbertForPreTraining", HeadKind::kMaskedLm},
    {"AlbertForMaskedLM", HeadKind::kMaskedLm},
    {"AlbertForSequenceClassification", HeadKind::kSequence},
    {"AlbertForTokenClassification", HeadKind::kTokens},
    {"AlbertForQuestionAnswering", HeadKind::kSpans},
    {"AlbertForMultipleChoice", HeadKind::kChoice},
};

constexpr SlotName kLayer[] = {
    {"self.q", "attention.query"},
    {"self.k", "attention.key"},
    {"self.v", "attention.value"},
    {"self.out", "attention.dense"},
    {"self.norm", "attention.LayerNorm"},
    {"ffn.in", "ffn"},
    {"ffn.out", "ffn_output"},
    {"ffn.norm", "full_layer_layer_norm"},
};

// The number of times that layers are computed, and whose weights they have.
struct Sharing {
  int groups = 1;
  int of_group = 1;  // layers that a group computes one after the other
};

absl::StatusOr<Sharing> ReadSharing(const JsonFile& config,
                                    StackSpec& encoder) {
  const int times = static_cast<int>(encoder.layers.size());
  Sharing sharing;
  ASSIGN_OR_RETURN(sharing.groups,
                   NumberOr(config, "num_hidden_groups", 1, {1, times}));
  ASSIGN_OR_RETURN(sharing.of_group, NumberOr(config, "inner_group_num", 1,
                                              {1, kLayers.max / times}));
  const LayerSpec layer = encoder.layers[0];
  encoder.layers.assign(times * sharing.of_group, layer);
  return sharing;
}

void AddLayers(const Sharing& sharing, int layers, NameTable& names) {
  const int times = layers / sharing.of_group;
  for (int i = 0; i < layers; ++i) {
    const int group = i / sharing.of_group * sharing.groups / times;
    const std::string tensor =
        absl::StrCat("encoder.albert_layer_groups.", group, ".albert_layers.",
                     i % sharing.of_group, ".");
    AddList(absl::StrCat("encoder.", i, "."), {"albert." + tensor, tensor},
            kLayer, Bias::kYes, names);
  }
}

UsualHeads Heads(const TransformerSpec& spec) {
  const LayerSpec& layer = spec.encoder->layers[0];
  return {.sequence = {{"albert.pooler", {spec.hidden, Activation::kTanh}},
                       {"classifier", {}}},
          .choice = {{"albert.pooler", {spec.hidden, Activation::kTanh}},
                     {"classifier", {1}}},
          .masked_lm = {"predictions.dense",
                        {spec.encoder->embedding.width,
                         layer.feed_forward.activation, layer.norm},
                        "predictions.LayerNorm"},
          .decoder = "predictions.decoder",
          .decoder_bias = {"predictions.decoder.bias", "predictions.bias"}};
}

}  // namespace

absl::StatusOr<Family> LoadAlbert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon, "gelu_new"));
  StackSpec& encoder = *family.spec.encoder;
  ASSIGN_OR_RETURN(encoder.embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  constexpr char kSize[] = "embedding_size";
  ASSIGN_OR_RETURN(encoder.embedding.width,
                   NumberOr(config, kSize, 128, kHidden));
  if (encoder.embedding.width == family.spec.hidden) {
    // The projection is there all the same.
    return config.Unexpected(kSize, "another number than hidden_size");
  }
  ASSIGN_OR_RETURN(const Sharing sharing, ReadSharing(config, encoder));
  const std::vector<std::string> prefixes = {"albert.", ""};
  AddBertEmbeddings("albert.", family.names);
  AddTensor("encoder.embedding.types",
            WithPrefixes(prefixes, {"embeddings.token_type_embeddings.weight"}),
            family.names);
  AddWeights("encoder.embedding.projection",
             WithPrefixes(prefixes, {"encoder.embedding_hidden_mapping_in"}),
             Bias::kYes, family.names);
  AddLayers(sharing, static_cast<int>(encoder.layers.size()), family.names);
  AddUnused({"albert.pooler.", "pooler.", "sop_classifier.classifier."},
            {"weight", "bias"}, family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kAlbertClasses, Heads(family.spec), family));
  return family;
}

}  // namespace attend
