// GTE v1.5 and multilingual: Zhang et al. 2024. model_type is "new" in files
// with code of their own, and "gte" since transformers has the family.

#include <cmath>
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

constexpr HeadClass kGteClasses[] = {
    {"GteModel"},
    {"GteForMaskedLM", HeadKind::kMaskedLm},
    {"GteForSequenceClassification", HeadKind::kSequence},
    {"GteForTokenClassification", HeadKind::kTokens},
    {"NewModel"},
    {"NewForMaskedLM", HeadKind::kMaskedLm},
    {"NewForSequenceClassification", HeadKind::kSequence},
    {"NewForTokenClassification", HeadKind::kTokens},
};

constexpr char kScaling[] = "rope_scaling";

// Fixed NTK scaling, which only the code in files has: theta grows, and all
// frequencies shrink.
absl::StatusOr<RotarySpec> ScaleNtk(const JsonFile& rope, double theta,
                                    int head_dim) {
  RETURN_IF_ERROR(rope.ExpectNeutral("mixed_b", 0));
  ASSIGN_OR_RETURN(const double factor, rope.Float("factor", {1, 1e6}));
  RotarySpec spec = {
      RotaryFrequencies(static_cast<float>(theta * factor), head_dim)};
  const float divisor = static_cast<float>(std::pow(factor, 2.0 / head_dim));
  for (float& frequency : spec.frequencies) frequency /= divisor;
  return spec;
}

absl::StatusOr<RotarySpec> RotaryOf(const JsonFile& config, bool old,
                                    const StackSpec& encoder) {
  RotaryDefaults defaults = {
      .theta = old ? 10000.0 : 160000.0,
      .head_dim = encoder.layers[0].self_attention.head_dim,
      .max_positions = encoder.embedding.max_positions};
  if (config.Has(kScaling)) {
    ASSIGN_OR_RETURN(const JsonFile rope, config.Object(kScaling));
    ASSIGN_OR_RETURN(const std::string type, rope.StringOr("type", ""));
    if (type == "ntk") {
      ASSIGN_OR_RETURN(
          const double theta,
          config.FloatOr("rope_theta", defaults.theta, kRotaryTheta));
      return ScaleNtk(rope, theta, defaults.head_dim);
    }
  }
  return ReadRotaryOf(config, defaults);
}

// Fields of the code in files whose other values change the model.
absl::Status CheckOld(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(config, {"pack_qkv"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"logn_attention_scale"}, false));
  constexpr char kNorm[] = "layer_norm_type";
  ASSIGN_OR_RETURN(const std::string norm,
                   config.StringOr(kNorm, "layer_norm"));
  if (norm == "layer_norm") return absl::OkStatus();
  return config.Unexpected(kNorm, "layer_norm");
}

absl::StatusOr<TransformerSpec> GteSpec(const JsonFile& config, bool old) {
  RETURN_IF_ERROR(CheckOld(config));
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(TransformerSpec spec,
                   EncoderSpec(config, {.position_type = "rope"}, epsilon));
  StackSpec& encoder = *spec.encoder;
  encoder.embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(encoder.embedding.token_types,
                   NumberOr(config, "type_vocab_size", 1, kTokenTypes));
  ASSIGN_OR_RETURN(const RotarySpec rotary, RotaryOf(config, old, encoder));
  for (LayerSpec& layer : encoder.layers) {
    layer.self_attention.rotary = rotary;
    layer.feed_forward.gated = true;
  }
  return spec;
}

void AddNames(const std::string& prefix, bool types, NameTable& names) {
  AddBertEmbeddings(prefix, names);
  if (types) {
    AddTensor(
        "encoder.embedding.types",
        WithPrefixes({prefix, ""}, {"embeddings.token_type_embeddings.weight"}),
        names);
  }
  const std::vector<std::string> layers = {prefix + "encoder.layer.{}.",
                                           "encoder.layer.{}."};
  static constexpr SlotName kLayer[] = {{"self.out", "attention.o_proj"},
                                        {"self.norm", "attn_ln"},
                                        {"ffn.out", "mlp.down_proj"},
                                        {"ffn.norm", "mlp_ln"}};
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, WithPrefixes(layers, {"attention.qkv_proj"}),
            Bias::kYes, names);
  static constexpr const char* kIn[] = {"ffn.in", "ffn.gate"};
  AddSlices("encoder.{}.", kIn, WithPrefixes(layers, {"mlp.up_gate_proj"}),
            Bias::kNo, names);
  AddUnused({prefix, ""}, {"pooler.dense.weight", "pooler.dense.bias"}, names);
}

UsualHeads Heads(const TransformerSpec& spec, const std::string& prefix) {
  const LayerSpec& layer = spec.encoder->layers[0];
  return {
      .sequence = {{prefix + "pooler.dense", {spec.hidden, Activation::kTanh}},
                   {"classifier", {}}},
      .masked_lm = {"lm_head.dense",
                    {spec.hidden, layer.feed_forward.activation, layer.norm},
                    "lm_head.norm"},
      .decoder = "lm_head.decoder",
      .decoder_bias = {"lm_head.decoder.bias"}};
}

}  // namespace

absl::StatusOr<Family> LoadGte(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string type, config.String("model_type"));
  const bool old = type == "new";
  const std::string prefix = type + ".";
  Family family;
  ASSIGN_OR_RETURN(family.spec, GteSpec(config, old));
  AddNames(prefix, family.spec.encoder->embedding.token_types > 0,
           family.names);
  RETURN_IF_ERROR(
      AddUsualHead(config, kGteClasses, Heads(family.spec, prefix), family));
  return family;
}

}  // namespace attend
