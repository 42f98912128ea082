#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/layer_types.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kModernBertClasses[] = {
    {"ModernBertModel"},
    {"ModernBertForMaskedLM", HeadKind::kMaskedLm},
    {"ModernBertForSequenceClassification", HeadKind::kSequence},
    {"ModernBertForTokenClassification", HeadKind::kTokens},
    {"ModernBertForQuestionAnswering", HeadKind::kSpans},
    {"ModernBertForMultipleChoice", HeadKind::kChoice},
};

absl::Status ReadLayers(const JsonFile& config, StackSpec& encoder) {
  if (encoder.layers[0].self_attention.head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  ASSIGN_OR_RETURN(
      const int every,
      NumberOr(config, "global_attn_every_n_layers", 3, {1, kLayers.max}));
  ASSIGN_OR_RETURN(const std::vector<bool> full,
                   FullLayers(config, static_cast<int>(encoder.layers.size()),
                              [&](int i) { return i % every == 0; }));
  RotaryDefaults rotary = {
      .head_dim = encoder.layers[0].self_attention.head_dim,
      .max_positions = encoder.embedding.max_positions};
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("global_rope_theta", 160000, kRotaryTheta));
  ASSIGN_OR_RETURN(const RotarySpec global,
                   RotaryOfType(config, kFullAttention, rotary));
  // null, in the first versions of transformers, meant the global theta.
  const double theta = config.IsNull("local_rope_theta") ? rotary.theta : 10000;
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("local_rope_theta", theta, kRotaryTheta));
  ASSIGN_OR_RETURN(const RotarySpec local,
                   RotaryOfType(config, kSlidingAttention, rotary));
  // local_attention counts the tokens on both sides.
  ASSIGN_OR_RETURN(const int window, NumberOr(config, "local_attention", 128,
                                              {2, 2 * kPositions.max}));
  for (size_t i = 0; i < full.size(); ++i) {
    LayerSpec& layer = encoder.layers[i];
    layer.norm_place = NormPlace::kPre;
    layer.self_norm = i > 0;  // the embeddings' norm is the first layer's
    layer.feed_forward.gated = true;
    layer.self_attention.rotary = full[i] ? global : local;
    layer.self_attention.window = full[i] ? 0 : window / 2;
  }
  return absl::OkStatus();
}

// Which matrices and norms have a bias, by flags of config.json.
struct Biases {
  Bias norm, attention, feed_forward, classifier;
  bool decoder = true;
};

absl::StatusOr<Biases> ReadBiases(const JsonFile& config) {
  Biases biases;
  const std::pair<const char*, Bias*> flags[] = {
      {"norm_bias", &biases.norm},
      {"attention_bias", &biases.attention},
      {"mlp_bias", &biases.feed_forward},
      {"classifier_bias", &biases.classifier},
  };
  for (const auto& [key, bias] : flags) {
    ASSIGN_OR_RETURN(*bias, BiasFlag(config, key));
  }
  ASSIGN_OR_RETURN(biases.decoder, config.BoolOr("decoder_bias", true));
  return biases;
}

void AddModernBertNames(const Biases& biases, NameTable& names) {
  const auto with = [](const char* name) {
    return std::vector<std::string>{absl::StrCat("model.", name), name};
  };
  AddTensor("encoder.embedding.tokens",
            with("embeddings.tok_embeddings.weight"), names);
  AddWeights("encoder.embedding.norm", with("embeddings.norm"), biases.norm,
             names);
  AddWeights("encoder.norm", with("final_norm"), biases.norm, names);
  const std::vector<std::string> layer = with("layers.{}.");
  static constexpr SlotName kNorms[] = {{"self.norm", "attn_norm"},
                                        {"ffn.norm", "mlp_norm"}};
  AddList("encoder.{}.", layer, kNorms, biases.norm, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("encoder.{}.", kQkv, WithPrefixes(layer, {"attn.Wqkv"}),
            biases.attention, names);
  AddList("encoder.{}.", layer, {{"self.out", "attn.Wo"}}, biases.attention,
          names);
  static constexpr const char* kGateAndIn[] = {"ffn.gate", "ffn.in"};
  AddSlices("encoder.{}.", kGateAndIn, WithPrefixes(layer, {"mlp.Wi"}),
            biases.feed_forward, names);
  AddList("encoder.{}.", layer, {{"ffn.out", "mlp.Wo"}}, biases.feed_forward,
          names);
}

absl::Status AddModernBertHead(const JsonFile& config, HeadKind head,
                               const Biases& biases, Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, head, family));
  ASSIGN_OR_RETURN(const Activation activation,
                   ActivationOr(config, "classifier_activation", "gelu"));
  const HeadLayer layer = {
      "head.dense",
      {family.spec.hidden, activation, family.spec.encoder->layers[0].norm},
      "head.norm",
      biases.classifier,
      biases.norm};
  if (head == HeadKind::kMaskedLm) {
    std::vector<std::string> bias;
    if (biases.decoder) bias.push_back("decoder.bias");
    return AddMaskedLm(config, layer, "decoder", bias, family);
  }
  // 0: the number of labels.
  const int out = head == HeadKind::kSpans    ? 2
                  : head == HeadKind::kChoice ? 1
                                              : 0;
  AddHead(head, {layer, {"classifier", {out}}}, family);
  ASSIGN_OR_RETURN(const std::string pooling,
                   config.StringOr("classifier_pooling", "cls"));
  if (pooling != "cls" && pooling != "mean") {
    return config.Unexpected("classifier_pooling", "cls or mean");
  }
  if (!ReadsTokens(head) && pooling == "mean") {
    family.spec.head->pooling = Pooling::kMean;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadModernBert(const JsonFile& config) {
  RETURN_IF_ERROR(config.ExpectNeutral("rope_scaling", 0));
  Family family;
  ASSIGN_OR_RETURN(const float epsilon, EpsilonOr(config, "norm_eps", 1e-5f));
  ASSIGN_OR_RETURN(
      family.spec,
      EncoderSpec(config, {.activation = "hidden_activation"}, epsilon));
  family.spec.encoder->embedding.positions = Positions::kNone;
  RETURN_IF_ERROR(ReadLayers(config, *family.spec.encoder));
  ASSIGN_OR_RETURN(const Biases biases, ReadBiases(config));
  AddModernBertNames(biases, family.names);
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kModernBertClasses));
  if (head) {
    RETURN_IF_ERROR(AddModernBertHead(config, *head, biases, family));
  }
  return family;
}

}  // namespace attend
