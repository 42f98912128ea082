// T5: Raffel et al. 2020; T5 v1.1, Flan-T5 (Chung et al. 2022); mT5: Xue et al.
// 2021; umT5: Chung et al. 2023. Their encoders embed texts alone, as those of
// Sentence-T5 (Ni et al. 2021) do.

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/drop_decoder.h"
#include "engine/families/shared/seq2seq_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// T5 has no limit of positions; this is ours.
constexpr int kMaxPositions = 1 << 16;
constexpr IntRange kBuckets = {4, 1 << 12};
constexpr int kMaxDistance = 1 << 20;

// The differences between the families.
struct Variant {
  std::string name;              // "T5", of T5ForConditionalGeneration
  absl::string_view activation;  // if the configuration names none
  bool bias_per_layer = false;   // see RelativeBiasSpec
};

// A class of a family, without its name.
struct Class {
  absl::string_view name;
  std::optional<HeadKind> head = std::nullopt;
  bool encoder_alone = false;
};
constexpr Class kClasses[] = {
    {"ForConditionalGeneration"},
    {"Model"},
    {"WithLMHeadModel"},  // ForConditionalGeneration before 4.0
    {"EncoderModel", std::nullopt, true},
    {"ForSequenceClassification", HeadKind::kSequence},
    {"ForTokenClassification", HeadKind::kTokens, true},
    {"ForQuestionAnswering", HeadKind::kSpans},
};

absl::StatusOr<Class> ClassOf(const JsonFile& config, const std::string& name) {
  std::vector<std::string> names;
  for (const Class& known : kClasses) {
    names.push_back(absl::StrCat(name, known.name));
  }
  ASSIGN_OR_RETURN(const std::string found,
                   Architecture(config, std::vector<absl::string_view>(
                                            names.begin(), names.end())));
  for (const Class& known : kClasses) {
    if (found == absl::StrCat(name, known.name)) return known;
  }
  return kClasses[0];
}

// Classes that label have "transformer." before the names of the model below.
void AddHeadPrefix(NameTable& names) {
  const std::vector<std::string> prefixes = {"transformer.", ""};
  for (NameRow& row : names.rows) {
    row.tensors = WithPrefixes(prefixes, row.tensors);
  }
  names.unused = WithPrefixes(prefixes, names.unused);
}

// feed_forward_proj: "relu" or "gated-gelu". If the file says in other fields
// what that means, these fields win.
absl::StatusOr<FeedForwardSpec> FeedForward(const JsonFile& config,
                                            absl::string_view fallback) {
  constexpr char kKey[] = "feed_forward_proj";
  ASSIGN_OR_RETURN(const std::string text, config.StringOr(kKey, fallback));
  const std::vector<std::string> words = absl::StrSplit(text, '-');
  const bool gated = words.front() == "gated";
  if (words.size() > 2 || (words.size() == 2 && !gated)) {
    return config.Unexpected(kKey, "an activation, or gated-<activation>");
  }
  FeedForwardSpec spec;
  ASSIGN_OR_RETURN(spec.gated, config.BoolOr("is_gated_act", gated));
  if (config.Has("dense_act_fn")) {
    ASSIGN_OR_RETURN(spec.activation, ActivationOr(config, "dense_act_fn", ""));
  } else {
    // Models with "gated-gelu" were trained with the tanh form of GELU.
    ASSIGN_OR_RETURN(
        spec.activation,
        ActivationNamed(config, kKey,
                        text == "gated-gelu" ? "gelu_new" : words.back()));
  }
  ASSIGN_OR_RETURN(spec.width, Number(config, {"d_ff"}, kWidth));
  return spec;
}

absl::StatusOr<StackSpec> Stack(const JsonFile& config, int hidden, int layers,
                                bool decoder, const Variant& variant) {
  AttentionSpec attention;
  ASSIGN_OR_RETURN(
      attention.heads,
      Number(config, {"num_heads", "num_attention_heads"}, kHeads));
  attention.kv_heads = attention.heads;
  ASSIGN_OR_RETURN(attention.head_dim,
                   Number(config, {"d_kv", "head_dim"}, kHeadDim));
  attention.scale = 1;

  LayerSpec layer;
  layer.norm.kind = NormKind::kRmsNorm;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-6f));
  layer.norm_place = NormPlace::kPre;
  layer.self_attention = attention;
  if (decoder) layer.cross_attention = attention;
  ASSIGN_OR_RETURN(layer.feed_forward, FeedForward(config, variant.activation));

  RelativeBiasSpec bias;
  ASSIGN_OR_RETURN(
      bias.buckets,
      NumberOr(config, "relative_attention_num_buckets", 32, kBuckets));
  if (!decoder && bias.buckets % 2 != 0) {
    return config.Unexpected("relative_attention_num_buckets",
                             "an even number");
  }
  ASSIGN_OR_RETURN(bias.max_distance,
                   NumberOr(config, "relative_attention_max_distance", 128,
                            {bias.buckets / 2 + 1, kMaxDistance}));
  if (bias.max_distance <= bias.buckets / 2) {
    return config.Unexpected("relative_attention_max_distance",
                             "more than half of the buckets");
  }
  bias.per_layer = variant.bias_per_layer;

  StackSpec stack;
  stack.layers.assign(layers, layer);
  stack.relative_bias = bias;
  ASSIGN_OR_RETURN(stack.embedding.vocab,
                   Number(config, {"vocab_size"}, kVocab));
  stack.embedding.width = hidden;
  stack.embedding.positions = Positions::kNone;
  stack.embedding.max_positions = kMaxPositions;
  return stack;
}

void AddLayers(bool gated, bool bias_per_layer, NameTable& names) {
  static constexpr SlotName kSelf[] = {
      {"self.q", "0.SelfAttention.q"}, {"self.k", "0.SelfAttention.k"},
      {"self.v", "0.SelfAttention.v"}, {"self.out", "0.SelfAttention.o"},
      {"self.norm", "0.layer_norm"},
  };
  static constexpr SlotName kCross[] = {
      {"cross.q", "1.EncDecAttention.q"}, {"cross.k", "1.EncDecAttention.k"},
      {"cross.v", "1.EncDecAttention.v"}, {"cross.out", "1.EncDecAttention.o"},
      {"cross.norm", "1.layer_norm"},
  };
  std::vector<SlotName> feed_forward = {{"ffn.out", "DenseReluDense.wo"},
                                        {"ffn.norm", "layer_norm"}};
  if (gated) {
    feed_forward.push_back({"ffn.gate", "DenseReluDense.wi_0"});
    feed_forward.push_back({"ffn.in", "DenseReluDense.wi_1"});
  } else {
    feed_forward.push_back({"ffn.in", "DenseReluDense.wi"});
  }
  for (const std::string stack : {"encoder", "decoder"}) {
    const bool decoder = stack == "decoder";
    const std::string slot = stack + ".{}.";
    const std::string layer = stack + ".block.{}.layer.";
    AddList(slot, {layer}, kSelf, Bias::kNo, names);
    if (decoder) AddList(slot, {layer}, kCross, Bias::kNo, names);
    AddList(slot, {layer + (decoder ? "2." : "1.")}, feed_forward, Bias::kNo,
            names);
    AddWeights(stack + ".norm", {stack + ".final_layer_norm"}, Bias::kNo,
               names);
    constexpr char kBias[] = "0.SelfAttention.relative_attention_bias.weight";
    if (bias_per_layer) {
      AddTensor(slot + "relative_bias", {layer + kBias}, names);
    } else {
      AddTensor(stack + ".relative_bias", {stack + ".block.0.layer." + kBias},
                names);
    }
  }
  // Saved by early programs, but never used.
  AddUnused({"decoder.block.0.layer.1.EncDecAttention."},
            {"relative_attention_bias.weight"}, names);
}

absl::StatusOr<Family> Load(const JsonFile& config, const Variant& variant) {
  ASSIGN_OR_RETURN(const Class kind, ClassOf(config, variant.name));
  if (!kind.encoder_alone) {
    RETURN_IF_ERROR(ExpectFlags(config, {"is_encoder_decoder"}, true));
  }
  RETURN_IF_ERROR(ExpectFlags(config, {"is_decoder"}, false));
  Family family;
  TransformerSpec& spec = family.spec;
  ASSIGN_OR_RETURN(spec.hidden,
                   Number(config, {"d_model", "hidden_size"}, kHidden));
  ASSIGN_OR_RETURN(
      const int layers,
      Number(config, {"num_layers", "num_hidden_layers"}, kLayers));
  ASSIGN_OR_RETURN(const int decoder_layers,
                   NumberOr(config, "num_decoder_layers", layers, kLayers));
  ASSIGN_OR_RETURN(spec.encoder,
                   Stack(config, spec.hidden, layers, false, variant));
  ASSIGN_OR_RETURN(spec.decoder,
                   Stack(config, spec.hidden, decoder_layers, true, variant));
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  // A class that labels has no table of logits.
  AddSharedTokens(tied || kind.head, family.names);
  AddLayers(spec.encoder->layers.front().feed_forward.gated,
            variant.bias_per_layer, family.names);
  if (kind.encoder_alone) DropDecoder(family);
  if (!kind.head) return family;
  AddHeadPrefix(family.names);
  RETURN_IF_ERROR(AddSeq2seqHead(config, *kind.head, /*labels=*/2, family));
  return family;
}

void ScaleLogits(TransformerSpec& spec) {
  spec.logits_scale = 1 / std::sqrt(static_cast<float>(spec.hidden));
}

}  // namespace

absl::StatusOr<Family> LoadT5(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family,
                   Load(config, {.name = "T5", .activation = "relu"}));
  if (!family.spec.decoder || family.spec.head) return family;
  // transformers before 5.0: tie_word_embeddings also means scaled logits.
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  ASSIGN_OR_RETURN(const bool scaled,
                   config.BoolOr("scale_decoder_outputs", tied));
  if (scaled) ScaleLogits(family.spec);
  return family;
}

absl::StatusOr<Family> LoadMt5(const JsonFile& config) {
  return Load(config, {.name = "MT5", .activation = "gated-gelu"});
}

absl::StatusOr<Family> LoadUmt5(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, Load(config, {.name = "UMT5",
                                                .activation = "gated-gelu",
                                                .bias_per_layer = true}));
  // Whatever tie_word_embeddings says.
  if (family.spec.decoder && !family.spec.head) ScaleLogits(family.spec);
  return family;
}

}  // namespace attend
