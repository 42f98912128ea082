// Jina embeddings v3 without adapters, as transformers has them: XLM-RoBERTa
// with rotary positions (Sturua et al. 2024).

#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kJinaClasses[] = {
    {"JinaEmbeddingsV3Model"},
    {"JinaEmbeddingsV3ForMaskedLM", HeadKind::kMaskedLm},
    {"JinaEmbeddingsV3ForSequenceClassification", HeadKind::kSequence},
    {"JinaEmbeddingsV3ForTokenClassification", HeadKind::kTokens},
};

constexpr SlotName kLayer[] = {
    {"self.out", "mixer.out_proj"}, {"self.norm", "norm1"},
    {"ffn.in", "mlp.fc1"},          {"ffn.out", "mlp.fc2"},
    {"ffn.norm", "norm2"},
};

void AddNames(NameTable& names) {
  const std::vector<std::string> prefixes = {"roberta.", ""};
  AddTensor("encoder.embedding.tokens",
            WithPrefixes(prefixes, {"embeddings.word_embeddings.weight"}),
            names);
  AddTensor("encoder.embedding.types",
            WithPrefixes(prefixes, {"embeddings.token_type_embeddings.weight"}),
            names);
  AddWeights("encoder.embedding.norm", WithPrefixes(prefixes, {"emb_ln"}),
             Bias::kYes, names);
  const std::vector<std::string> layers =
      WithPrefixes(prefixes, {"encoder.layers.{}."});
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, WithPrefixes(layers, {"mixer.Wqkv"}),
            Bias::kYes, names);
  AddUnused(prefixes, {"pooler.dense.weight", "pooler.dense.bias"}, names);
}

}  // namespace

absl::StatusOr<Family> LoadJinaEmbeddingsV3(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-5f));
  ASSIGN_OR_RETURN(family.spec, EncoderSpec(config, {}, epsilon));
  StackSpec& encoder = *family.spec.encoder;
  encoder.embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(
      encoder.embedding.token_types,
      NumberOr(config, "type_vocab_size", 1, {1, kTokenTypes.max}));
  const RotaryDefaults defaults = {
      .theta = 20000,
      .head_dim = encoder.layers[0].self_attention.head_dim,
      .max_positions = encoder.embedding.max_positions};
  ASSIGN_OR_RETURN(const RotarySpec rotary, ReadRotaryOf(config, defaults));
  for (LayerSpec& layer : encoder.layers) layer.self_attention.rotary = rotary;
  AddNames(family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kJinaClasses, RobertaHeads(family.spec), family));
  return family;
}

}  // namespace attend
