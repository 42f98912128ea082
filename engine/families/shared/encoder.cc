#include "engine/families/shared/encoder.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Checks that the configuration describes a model that Attend computes.
absl::Status CheckSupported(const JsonFile& config, const char* position_type) {
  RETURN_IF_ERROR(ExpectFlags(
      config, {"is_decoder", "add_cross_attention", "is_encoder_decoder"},
      false));
  RETURN_IF_ERROR(config.ExpectNeutral("pruned_heads", 0));
  ASSIGN_OR_RETURN(const std::string positions,
                   config.StringOr("position_embedding_type", position_type));
  if (positions == position_type) return absl::OkStatus();
  return config.Unexpected("position_embedding_type", position_type);
}

}  // namespace

absl::StatusOr<TransformerSpec> EncoderSpec(const JsonFile& config,
                                            const EncoderKeys& keys,
                                            float epsilon,
                                            absl::string_view activation) {
  RETURN_IF_ERROR(CheckSupported(config, keys.position_type));
  const EncoderKeys usual;
  ASSIGN_OR_RETURN(const int hidden,
                   Number(config, {keys.hidden, usual.hidden}, kHidden));
  ASSIGN_OR_RETURN(const int heads,
                   Number(config, {keys.heads, usual.heads}, kHeads));
  ASSIGN_OR_RETURN(const int layers,
                   Number(config, {keys.layers, usual.layers}, kLayers));
  LayerSpec layer;
  layer.norm = {.kind = NormKind::kLayerNorm, .epsilon = epsilon};
  layer.norm_place = NormPlace::kPost;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, keys.heads, heads, hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {keys.width}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, keys.activation, activation));

  TransformerSpec spec;
  spec.hidden = hidden;
  StackSpec& encoder = spec.encoder.emplace();
  encoder.layers.assign(layers, layer);
  EmbeddingSpec& embedding = encoder.embedding;
  ASSIGN_OR_RETURN(embedding.vocab, Number(config, {"vocab_size"}, kVocab));
  embedding.width = hidden;
  embedding.positions = Positions::kLearned;
  ASSIGN_OR_RETURN(embedding.max_positions,
                   Number(config, {keys.positions}, kPositions));
  embedding.norm = layer.norm;
  return spec;
}

absl::Status CountFromPad(const JsonFile& config, int pad,
                          EmbeddingSpec& embedding) {
  embedding.uncounted_id = pad;
  embedding.position_offset = pad + 1;
  embedding.max_positions -= embedding.position_offset;
  if (embedding.max_positions > 0) return absl::OkStatus();
  return config.Unexpected(
      "max_position_embeddings",
      absl::StrCat("more than ", embedding.position_offset,
                   ", since positions start after pad_token_id"));
}

void AddBertEmbeddings(const std::string& prefix, NameTable& names) {
  const std::vector<std::string> prefixes = {prefix + "embeddings.",
                                             "embeddings."};
  AddTensor("encoder.embedding.tokens",
            WithPrefixes(prefixes, {"word_embeddings.weight"}), names);
  AddTensor("encoder.embedding.positions",
            WithPrefixes(prefixes, {"position_embeddings.weight"}), names);
  AddWeights("encoder.embedding.norm", WithPrefixes(prefixes, {"LayerNorm"}),
             Bias::kYes, names);
  AddUnused(prefixes, {"position_ids", "token_type_ids"}, names);
}

void AddBertNames(const std::string& prefix, NameTable& names,
                  const BertNorms& norms) {
  AddBertEmbeddings(prefix, names);
  AddTensor(
      "encoder.embedding.types",
      WithPrefixes({prefix, ""}, {"embeddings.token_type_embeddings.weight"}),
      names);
  const SlotName layer[] = {
      {"self.q", "attention.self.query"},
      {"self.k", "attention.self.key"},
      {"self.v", "attention.self.value"},
      {"self.out", "attention.output.dense"},
      {"self.norm", norms.self},
      {"ffn.in", "intermediate.dense"},
      {"ffn.out", "output.dense"},
      {"ffn.norm", norms.feed_forward},
  };
  AddList("encoder.{}.", {prefix + "encoder.layer.{}.", "encoder.layer.{}."},
          layer, Bias::kYes, names);
  AddUnused({prefix, ""}, {"pooler.dense.weight", "pooler.dense.bias"}, names);
}

void MoveNorms(const std::string& prefix, const std::string& final_norm,
               StackSpec& encoder, NameTable& names) {
  for (LayerSpec& layer : encoder.layers) layer.norm_place = NormPlace::kPre;
  AddWeights("encoder.norm", WithPrefixes({prefix, ""}, {final_norm}),
             Bias::kYes, names);
}

void AddOldNormNames(NameTable& names) {
  static constexpr std::pair<const char*, const char*> kOld[] = {
      {"weight", "gamma"}, {"bias", "beta"}};
  for (NameRow& row : names.rows) {
    std::vector<std::string> older;
    for (absl::string_view tensor : row.tensors) {
      for (const auto& [now, then] : kOld) {
        absl::string_view stem = tensor;
        if (absl::ConsumeSuffix(&stem, now) &&
            absl::EndsWith(stem, "LayerNorm.")) {
          older.push_back(absl::StrCat(stem, then));
        }
      }
    }
    row.tensors.insert(row.tensors.end(), older.begin(), older.end());
  }
}

}  // namespace attend
