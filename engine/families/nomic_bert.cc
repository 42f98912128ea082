// Nomic Embed: Nussbaum et al. 2024; with experts: Nussbaum & Duderstadt 2025.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// A class with a head has this before the names of the model below.
constexpr char kPrefix[] = "nomic_bert.";

constexpr HeadClass kNomicBertClasses[] = {
    {"NomicBertModel"},
    {"NomicBertForMaskedLM", HeadKind::kMaskedLm},
    {"NomicBertForSequenceClassification", HeadKind::kSequence},
    {"NomicBertForTokenClassification", HeadKind::kTokens},
};

UsualHeads Heads(const TransformerSpec& spec) {
  UsualHeads heads = BertHeads(spec, kPrefix);
  heads.masked_lm.norm = "cls.predictions.transform.layer_norm";
  return heads;
}

// Configurations that came before the family was in transformers have GPT-2's
// words.
constexpr char kOldHidden[] = "n_embd";
constexpr EncoderKeys kOldKeys = {.hidden = kOldHidden,
                                  .layers = "n_layer",
                                  .heads = "n_head",
                                  .width = "n_inner",
                                  .positions = "n_positions"};

// Fields that only the old words say. Otherwise layers are as by default.
struct OldLayers {
  Activation activation = Activation::kSilu;
  bool gated = true;
  Bias attention = Bias::kNo;
  Bias fc1 = Bias::kNo;
  Bias fc2 = Bias::kNo;
  // Layer i has experts if i % every == 1; 0: no layer has.
  int every = 0;
  ExpertsSpec experts = {};

  bool HasExperts(size_t layer) const {
    return every > 0 && layer % every == 1;
  }
};

// What the old words may also say is not supported: those models have other
// layers.
absl::Status CheckOld(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(
      config,
      {"causal", "prenorm", "parallel_block", "rotary_emb_interleaved",
       "use_rms_norm", "expert_choice_router", "moe_normalize_expert_weights"},
      false));
  RETURN_IF_ERROR(config.ExpectNeutral("num_shared_experts", 0));
  RETURN_IF_ERROR(config.ExpectNeutral("ffn_div", 1));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_emb_fraction", 1));
  RETURN_IF_ERROR(config.ExpectNeutral("rotary_emb_scale_base", 0));
  return config.ExpectNeutral("rotary_scaling_factor", 0);
}

absl::Status ReadExperts(const JsonFile& config, OldLayers& layers) {
  ASSIGN_OR_RETURN(layers.every,
                   NumberOr(config, "moe_every_n_layers", 0, {0, kLayers.max}));
  if (layers.every == 0) return absl::OkStatus();
  constexpr char kCount[] = "num_experts";
  ASSIGN_OR_RETURN(layers.experts.count, Number(config, {kCount}, kExperts));
  ASSIGN_OR_RETURN(layers.experts.chosen,
                   Number(config, {"moe_top_k"}, {1, layers.experts.count}));
  if (!layers.gated) return absl::OkStatus();
  return config.Unexpected("activation_function",
                           "gelu where layers have "
                           "experts");
}

absl::StatusOr<OldLayers> ReadOldLayers(const JsonFile& config) {
  RETURN_IF_ERROR(CheckOld(config));
  OldLayers layers;
  ASSIGN_OR_RETURN(layers.attention, BiasFlag(config, "qkv_proj_bias"));
  ASSIGN_OR_RETURN(layers.fc1, BiasFlag(config, "mlp_fc1_bias"));
  ASSIGN_OR_RETURN(layers.fc2, BiasFlag(config, "mlp_fc2_bias"));
  constexpr char kActivation[] = "activation_function";
  ASSIGN_OR_RETURN(const std::string activation,
                   config.StringOr(kActivation, "swiglu"));
  if (activation == "gelu") {
    layers.activation = Activation::kGelu;
    layers.gated = false;
  } else if (activation != "swiglu") {
    return config.Unexpected(kActivation, "swiglu or gelu");
  }
  RETURN_IF_ERROR(ReadExperts(config, layers));
  return layers;
}

absl::StatusOr<TransformerSpec> NomicBertSpec(const JsonFile& config, bool old,
                                              const OldLayers& layers) {
  ASSIGN_OR_RETURN(
      const float epsilon,
      EpsilonOr(config, old ? "layer_norm_epsilon" : "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(
      TransformerSpec spec,
      EncoderSpec(config, old ? kOldKeys : EncoderKeys(), epsilon, "silu"));
  EmbeddingSpec& embedding = spec.encoder->embedding;
  embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  const int head_dim = spec.encoder->layers[0].self_attention.head_dim;
  RETURN_IF_ERROR(
      config.IntOr("head_dim", head_dim, {head_dim, head_dim}).status());
  if (head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  RotaryDefaults rotary = {.theta = 1000,
                           .head_dim = head_dim,
                           .max_positions = embedding.max_positions};
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("rotary_emb_base", 1000, kRotaryTheta));
  ASSIGN_OR_RETURN(const RotarySpec rotation, ReadRotaryOf(config, rotary));
  for (size_t i = 0; i < spec.encoder->layers.size(); ++i) {
    LayerSpec& layer = spec.encoder->layers[i];
    layer.self_attention.rotary = rotation;
    layer.feed_forward.gated = layers.gated;
    if (old) layer.feed_forward.activation = layers.activation;
    if (layers.HasExperts(i)) layer.feed_forward.experts = layers.experts;
  }
  return spec;
}

// Two tensors hold the matrices of all experts.
void AddExpertNames(const std::string& layer, int count, NameTable& names) {
  const std::string slot = "encoder.{}.ffn.";
  AddWeights(slot + "router", {layer + "mlp.router.layer"}, Bias::kNo, names);
  AddTensor(slot + "experts.bias", {layer + "mlp.experts.bias"}, names);
  for (int i = 0; i < count; ++i) {
    const std::string expert = absl::StrCat(slot, "experts.", i);
    const TensorSlices own = {.matrices = count, .matrix = i};
    AddTensor(expert + ".in.weight", {layer + "mlp.experts.mlp.w1"}, names);
    names.rows.back().slices = own;
    AddTensor(expert + ".out.weight", {layer + "mlp.experts.mlp.w2"}, names);
    names.rows.back().slices = own;
    names.rows.back().slices.transposed = true;
  }
}

void AddNomicBertNames(bool types, const OldLayers& layers, NameTable& names) {
  AddTensor("encoder.embedding.tokens", {"embeddings.word_embeddings.weight"},
            names);
  if (types) {
    AddTensor("encoder.embedding.types",
              {"embeddings.token_type_embeddings.weight"}, names);
  }
  AddWeights("encoder.embedding.norm", {"emb_ln"}, Bias::kYes, names);
  const std::string layer = "encoder.layers.{}.";
  static constexpr SlotName kNorms[] = {{"self.norm", "norm1"},
                                        {"ffn.norm", "norm2"}};
  AddList("encoder.{}.", {layer}, kNorms, Bias::kYes, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, {layer + "attn.Wqkv"}, layers.attention,
            names);
  AddList("encoder.{}.", {layer}, {{"self.out", "attn.out_proj"}},
          layers.attention, names);
  if (layers.gated) {
    static constexpr SlotName kGated[] = {{"ffn.in", "mlp.fc11"},
                                          {"ffn.gate", "mlp.fc12"}};
    AddList("encoder.{}.", {layer}, kGated, layers.fc1, names);
  } else {
    AddList("encoder.{}.", {layer}, {{"ffn.in", "mlp.fc1"}}, layers.fc1, names);
  }
  AddList("encoder.{}.", {layer}, {{"ffn.out", "mlp.fc2"}}, layers.fc2, names);
  if (layers.every > 0) AddExpertNames(layer, layers.experts.count, names);
}

}  // namespace

absl::StatusOr<Family> LoadNomicBert(const JsonFile& config) {
  const bool old = config.Has(kOldHidden);
  OldLayers layers;
  if (old) {
    // The classes with heads of that time have other tensors.
    RETURN_IF_ERROR(Architecture(config, {"NomicBertModel"}).status());
    ASSIGN_OR_RETURN(layers, ReadOldLayers(config));
  }
  Family family;
  ASSIGN_OR_RETURN(family.spec, NomicBertSpec(config, old, layers));
  AddNomicBertNames(family.spec.encoder->embedding.token_types > 0, layers,
                    family.names);
  for (NameRow& row : family.names.rows) {
    row.tensors = WithPrefixes({kPrefix, ""}, row.tensors);
  }
  if (old) return family;
  RETURN_IF_ERROR(
      AddUsualHead(config, kNomicBertClasses, Heads(family.spec), family));
  return family;
}

}  // namespace attend
