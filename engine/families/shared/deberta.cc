#include "engine/families/shared/deberta.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The words of a field that is a list, or one string with '|' between them.
absl::StatusOr<std::vector<std::string>> Words(const JsonFile& config,
                                               absl::string_view key) {
  if (!config.Has(key)) return std::vector<std::string>();
  ASSIGN_OR_RETURN(const std::vector<std::string> strings, config.Strings(key));
  std::vector<std::string> words;
  for (const std::string& string : strings) {
    for (absl::string_view word : absl::StrSplit(string, '|')) {
      words.emplace_back(absl::StripAsciiWhitespace(word));
    }
  }
  return words;
}

bool Contains(const std::vector<std::string>& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Sets distances, and the scale of scores, which counts the products.
absl::Status ReadDistances(const JsonFile& config, const NormSpec& norm,
                           StackSpec& encoder) {
  constexpr char kTypes[] = "pos_att_type";
  ASSIGN_OR_RETURN(const std::vector<std::string> types, Words(config, kTypes));
  for (const std::string& type : types) {
    if (type.empty() || type == "c2p" || type == "p2c") continue;
    return config.Unexpected(kTypes, "c2p, p2c, or both");
  }
  DistanceSpec spec = {.keys = Contains(types, "c2p"),
                       .queries = Contains(types, "p2c")};
  const int products = 1 + (spec.keys ? 1 : 0) + (spec.queries ? 1 : 0);
  for (LayerSpec& layer : encoder.layers) {
    AttentionSpec& attention = layer.self_attention;
    attention.scale =
        1 / std::sqrt(static_cast<float>(attention.head_dim * products));
  }
  ASSIGN_OR_RETURN(const bool relative,
                   config.BoolOr("relative_attention", false));
  if (!relative) return absl::OkStatus();
  if (products == 1) {
    return config.Unexpected(kTypes,
                             "c2p, p2c, or both, beside "
                             "relative_attention");
  }
  ASSIGN_OR_RETURN(int max_distance, NumberOr(config, "max_relative_positions",
                                              -1, {-1, kPositions.max}));
  if (max_distance < 1) {
    ASSIGN_OR_RETURN(max_distance,
                     Number(config, {"max_position_embeddings"}, kPositions));
  }
  // Absent, or not positive: each distance has a vector of its own.
  constexpr char kBuckets[] = "position_buckets";
  ASSIGN_OR_RETURN(const int buckets,
                   NumberOr(config, kBuckets, -1, {-1, kPositions.max}));
  spec.side = buckets > 0 ? buckets : max_distance;
  const int exact = buckets / 2;
  if (buckets > 0 && encoder.embedding.max_positions > exact + 1) {
    if (exact < 2 || max_distance < exact + 2) {
      return config.Unexpected(
          kBuckets, "4 or more, and less than twice the largest distance");
    }
    spec.max_distance = max_distance;
  }
  constexpr char kNorm[] = "norm_rel_ebd";
  ASSIGN_OR_RETURN(const std::vector<std::string> norms, Words(config, kNorm));
  if (Contains(norms, "layer_norm")) spec.norm = norm;
  encoder.distances = spec;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TransformerSpec> DebertaSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-7f));
  ASSIGN_OR_RETURN(TransformerSpec spec, EncoderSpec(config, {}, epsilon));
  StackSpec& encoder = *spec.encoder;
  const LayerSpec& layer = encoder.layers[0];
  const int head_dim = layer.self_attention.head_dim;
  RETURN_IF_ERROR(
      config.IntOr("attention_head_size", head_dim, {head_dim, head_dim})
          .status());
  EmbeddingSpec& embedding = encoder.embedding;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 0, kTokenTypes));
  ASSIGN_OR_RETURN(const bool biased,
                   config.BoolOr("position_biased_input", true));
  if (!biased) embedding.positions = Positions::kNone;
  constexpr char kSize[] = "embedding_size";
  ASSIGN_OR_RETURN(embedding.width,
                   NumberOr(config, kSize, spec.hidden, kHidden));
  if (embedding.width != spec.hidden) {
    // The norm follows the projection, which would map positions and types.
    if (biased || embedding.token_types > 0) {
      return config.Unexpected(kSize,
                               "hidden_size, beside positions or token types");
    }
    embedding.projects_tokens = true;
  }
  RETURN_IF_ERROR(ReadDistances(config, layer.norm, encoder));
  return spec;
}

void AddDebertaEncoder(const StackSpec& encoder, NameTable& names) {
  const std::string prefix = "deberta.";
  AddBertEmbeddings(prefix, names);
  if (encoder.embedding.positions == Positions::kNone) {
    AddUnused({prefix, ""}, {"embeddings.position_embeddings.weight"}, names);
  }
  if (encoder.embedding.token_types > 0) {
    AddTensor(
        "encoder.embedding.types",
        WithPrefixes({prefix, ""}, {"embeddings.token_type_embeddings.weight"}),
        names);
  }
  AddWeights("encoder.embedding.projection",
             WithPrefixes({prefix, ""}, {"embeddings.embed_proj"}), Bias::kNo,
             names);
  static constexpr SlotName kLayer[] = {
      {"self.out", "attention.output.dense"},
      {"self.norm", "attention.output.LayerNorm"},
      {"ffn.in", "intermediate.dense"},
      {"ffn.out", "output.dense"},
      {"ffn.norm", "output.LayerNorm"},
  };
  AddList("encoder.{}.", DebertaLayerPrefixes(), kLayer, Bias::kYes, names);
  if (!encoder.distances) return;
  AddTensor("encoder.distances",
            WithPrefixes({prefix, ""}, {"encoder.rel_embeddings.weight"}),
            names);
  if (encoder.distances->norm) {
    AddWeights("encoder.distances.norm",
               WithPrefixes({prefix, ""}, {"encoder.LayerNorm"}), Bias::kYes,
               names);
  }
}

const std::vector<std::string>& DebertaLayerPrefixes() {
  static const auto& prefixes = *new std::vector<std::string>{
      "deberta.encoder.layer.{}.", "encoder.layer.{}."};
  return prefixes;
}

void AddDebertaHeadsUnused(NameTable& names) {
  AddUnused(
      {"lm_predictions.lm_head.", "mask_predictions.",
       "cls.predictions.transform."},
      {"dense.weight", "dense.bias", "LayerNorm.weight", "LayerNorm.bias"},
      names);
  AddUnused(
      {""},
      {"lm_predictions.lm_head.bias", "mask_predictions.classifier.weight",
       "mask_predictions.classifier.bias", "cls.predictions.bias",
       "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"},
      names);
}

absl::StatusOr<UsualHeads> DebertaHeads(const JsonFile& config,
                                        const TransformerSpec& spec) {
  const LayerSpec& layer = spec.encoder->layers[0];
  ASSIGN_OR_RETURN(const Activation pooler,
                   ActivationOr(config, "pooler_hidden_act", "gelu"));
  RETURN_IF_ERROR(
      config
          .IntOr("pooler_hidden_size", spec.hidden, {spec.hidden, spec.hidden})
          .status());
  UsualHeads heads = {
      .sequence = {{"pooler.dense", {spec.hidden, pooler}}, {"classifier", {}}},
      .choice = {{"pooler.dense", {spec.hidden, pooler}}, {"classifier", {1}}},
      .masked_lm = {},
      .decoder = "cls.predictions.decoder",
      .decoder_bias = {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
  const DenseSpec dense = {spec.encoder->embedding.width,
                           layer.feed_forward.activation, layer.norm};
  ASSIGN_OR_RETURN(const bool legacy, config.BoolOr("legacy", true));
  if (legacy) {
    heads.masked_lm = {"cls.predictions.transform.dense", dense,
                       "cls.predictions.transform.LayerNorm"};
    return heads;
  }
  heads.masked_lm = {"lm_predictions.lm_head.dense", dense,
                     "lm_predictions.lm_head.LayerNorm"};
  // Always tied to the embedding.
  heads.decoder = "deberta.embeddings.word_embeddings";
  heads.decoder_bias = {"lm_predictions.lm_head.bias"};
  return heads;
}

}  // namespace attend
