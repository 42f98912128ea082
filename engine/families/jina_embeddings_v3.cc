// Jina embeddings v3 (Sturua et al. 2024): XLM-RoBERTa with rotary positions.
// As transformers has them, without adapters, and in the form of
// jinaai/xlm-roberta-flash-implementation, the code that the model's repository
// names, with adapters of tasks.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
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

constexpr HeadClass kFlashClasses[] = {
    {"XLMRobertaModel"},
    {"XLMRobertaForMaskedLM", HeadKind::kMaskedLm},
    {"XLMRobertaForSequenceClassification", HeadKind::kSequence},
};

constexpr SlotName kLayer[] = {
    {"self.out", "mixer.out_proj"}, {"self.norm", "norm1"},
    {"ffn.in", "mlp.fc1"},          {"ffn.out", "mlp.fc2"},
    {"ffn.norm", "norm2"},
};

const std::vector<std::string>& Prefixes() {
  static const auto& prefixes = *new std::vector<std::string>{"roberta.", ""};
  return prefixes;
}

std::vector<std::string> LayerPrefixes() {
  return WithPrefixes(Prefixes(), {"encoder.layers.{}."});
}

void AddNames(NameTable& names) {
  AddTensor("encoder.embedding.tokens",
            WithPrefixes(Prefixes(), {"embeddings.word_embeddings.weight"}),
            names);
  AddTensor(
      "encoder.embedding.types",
      WithPrefixes(Prefixes(), {"embeddings.token_type_embeddings.weight"}),
      names);
  AddWeights("encoder.embedding.norm", WithPrefixes(Prefixes(), {"emb_ln"}),
             Bias::kYes, names);
  AddList("encoder.{}.", LayerPrefixes(), kLayer, Bias::kYes, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, WithPrefixes(LayerPrefixes(), {"mixer.Wqkv"}),
            Bias::kYes, names);
  AddUnused(Prefixes(), {"pooler.dense.weight", "pooler.dense.bias"}, names);
}

// `position_type`: see EncoderKeys; `rotary_theta`: where config.json has no
// parameters of rotary positions. The heads are those of RoBERTa.
absl::StatusOr<Family> LoadWith(const JsonFile& config,
                                absl::Span<const HeadClass> classes,
                                const char* position_type,
                                double rotary_theta) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-5f));
  ASSIGN_OR_RETURN(
      family.spec,
      EncoderSpec(config, {.position_type = position_type}, epsilon));
  StackSpec& encoder = *family.spec.encoder;
  encoder.embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(
      encoder.embedding.token_types,
      NumberOr(config, "type_vocab_size", 1, {1, kTokenTypes.max}));
  const RotaryDefaults defaults = {
      .theta = rotary_theta,
      .head_dim = encoder.layers[0].self_attention.head_dim,
      .max_positions = encoder.embedding.max_positions};
  ASSIGN_OR_RETURN(const RotarySpec rotary, ReadRotaryOf(config, defaults));
  for (LayerSpec& layer : encoder.layers) layer.self_attention.rotary = rotary;
  AddNames(family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, classes, RobertaHeads(family.spec), family));
  return family;
}

// Adds the names that torch gives weights which adapters change, and those of
// the adapters.
void AddAdapterNames(NameTable& names) {
  for (NameRow& row : names.rows) {
    std::vector<std::string> changed;
    for (absl::string_view tensor : row.tensors) {
      if (!absl::ConsumeSuffix(&tensor, ".weight")) continue;
      changed.push_back(
          absl::StrCat(tensor, ".parametrizations.weight.original"));
    }
    row.tensors.insert(row.tensors.end(), changed.begin(), changed.end());
  }
  const auto add = [&](const std::string& slot,
                       const std::vector<std::string>& prefixes,
                       const std::string& tensor) {
    const std::string stem = tensor + ".parametrizations.weight.0.lora_";
    AddTensor(slot + ".adapters.down", WithPrefixes(prefixes, {stem + "A"}),
              names);
    AddTensor(slot + ".adapters.up", WithPrefixes(prefixes, {stem + "B"}),
              names);
  };
  add("encoder.embedding.tokens", Prefixes(), "embeddings.word_embeddings");
  add("encoder.embedding.types", Prefixes(),
      "embeddings.token_type_embeddings");
  add("encoder.{}.self.qkv", LayerPrefixes(), "mixer.Wqkv");
  add("encoder.{}.self.out", LayerPrefixes(), "mixer.out_proj");
  add("encoder.{}.ffn.in", LayerPrefixes(), "mlp.fc1");
  add("encoder.{}.ffn.out", LayerPrefixes(), "mlp.fc2");
  const std::string pooler = "pooler.dense.parametrizations.weight.";
  AddUnused(Prefixes(),
            {pooler + "original", pooler + "0.lora_A", pooler + "0.lora_B"},
            names);
}

// Reads the adapters and the instructions that are put before their texts.
absl::Status ReadAdapters(const JsonFile& config, Family& family) {
  constexpr char kNames[] = "lora_adaptations";
  constexpr char kInstructions[] = "task_instructions";
  constexpr IntRange kCount = {1, 256};
  ASSIGN_OR_RETURN(family.adapters, config.Strings(kNames));
  const std::set<std::string> names(family.adapters.begin(),
                                    family.adapters.end());
  if (names.empty() || names.size() != family.adapters.size() ||
      static_cast<int64_t>(names.size()) > kCount.max) {
    return config.Unexpected(
        kNames, absl::StrCat("1 to ", kCount.max, " different names"));
  }
  ASSIGN_OR_RETURN(const bool trained,
                   config.BoolOr("load_trained_adapters", false));
  if (!trained) {
    return config.Unexpected("load_trained_adapters",
                             "true where there are lora_adaptations");
  }
  if (family.spec.head) {
    return config.Unexpected(kNames, "null where there is a head");
  }
  ASSIGN_OR_RETURN(family.prompts, config.StringMap(kInstructions));
  bool same = family.prompts.size() == names.size();
  for (const auto& [name, text] : family.prompts) same &= names.count(name) > 0;
  if (!same) {
    return config.Unexpected(kInstructions, "a text for each lora_adaptation");
  }
  AdaptersSpec& adapters = family.spec.adapters.emplace();
  adapters.count = static_cast<int>(names.size());
  ASSIGN_OR_RETURN(adapters.rank, NumberOr(config, "lora_rank", 4, kCount));
  ASSIGN_OR_RETURN(const double alpha,
                   config.FloatOr("lora_alpha", 1, {1e-6, 1e6}));
  adapters.scale = static_cast<float>(alpha / adapters.rank);
  AddAdapterNames(family.names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadJinaEmbeddingsV3(const JsonFile& config) {
  return LoadWith(config, kJinaClasses, "absolute", 20000);
}

absl::StatusOr<Family> LoadXlmRobertaFlash(const JsonFile& config) {
  ASSIGN_OR_RETURN(const double theta,
                   config.FloatOr("rotary_emb_base", 10000, kRotaryTheta));
  RETURN_IF_ERROR(ExpectFlags(config, {"rotary_emb_interleaved"}, false));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_emb_scale_base", 0));
  RETURN_IF_ERROR(config.ExpectNeutral("truncate_dim", 0));
  ASSIGN_OR_RETURN(Family family,
                   LoadWith(config, kFlashClasses, "rotary", theta));
  const int head_dim = family.spec.encoder->layers[0].self_attention.head_dim;
  RETURN_IF_ERROR(
      NumberOr(config, "rotary_emb_dim", head_dim, {head_dim, head_dim})
          .status());
  // As encode() of that code does; files of sentence-transformers win.
  ASSIGN_OR_RETURN(const std::string pooler,
                   config.StringOr("emb_pooler", "mean"));
  if (pooler == "cls") family.spec.embed.poolings = {Pooling::kCls};
  family.spec.embed.normalize = true;
  if (!config.Has("lora_adaptations")) return family;
  RETURN_IF_ERROR(ReadAdapters(config, family));
  return family;
}

}  // namespace attend
