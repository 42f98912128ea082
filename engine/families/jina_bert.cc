// Jina embeddings v2: Günther et al. 2023. BERT with linear biases and gated
// feed-forward layers; model_type is "bert".

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/alibi.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kJinaBertClasses[] = {
    {"JinaBertModel"},
    {"JinaBertForMaskedLM", HeadKind::kMaskedLm},
    {"JinaBertForSequenceClassification", HeadKind::kSequence},
    {"JinaBertForTokenClassification", HeadKind::kTokens},
};

absl::StatusOr<Activation> GateOf(const JsonFile& config) {
  constexpr char kType[] = "feed_forward_type";
  ASSIGN_OR_RETURN(const std::string type, config.StringOr(kType, "original"));
  if (type == "geglu") return Activation::kGelu;
  if (type == "reglu") return Activation::kRelu;
  return config.Unexpected(kType, "geglu or reglu");
}

// True if the code that the file names is that of models whose queries and keys
// have norms: the file says it nowhere else.
absl::StatusOr<bool> HasQueryNorms(const JsonFile& config) {
  constexpr absl::string_view kCode = "qk-post-norm";
  ASSIGN_OR_RETURN(const std::string name,
                   config.StringOr("_name_or_path", ""));
  if (absl::StrContains(name, kCode)) return true;
  constexpr char kClasses[] = "auto_map";
  if (!config.Has(kClasses)) return false;
  ASSIGN_OR_RETURN(const JsonFile classes, config.Object(kClasses));
  for (const char* const key : {"AutoConfig", "AutoModel"}) {
    ASSIGN_OR_RETURN(const std::string code, classes.StringOr(key, ""));
    if (absl::StrContains(code, kCode)) return true;
  }
  return false;
}

// Names of layers that differ between the two codes.
void AddPlainLayers(const std::vector<std::string>& layers, NameTable& names) {
  static constexpr SlotName kLayer[] = {
      {"self.norm", "attention.output.LayerNorm"},
      {"ffn.out", "mlp.wo"},
      {"ffn.norm", "mlp.layernorm"},
  };
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  static constexpr const char* kIn[] = {"ffn.gate", "ffn.in"};
  AddSlices("encoder.{}.", kIn, WithPrefixes(layers, {"mlp.gated_layers"}),
            Bias::kNo, names);
}

void AddNormedLayers(const std::vector<std::string>& layers, NameTable& names) {
  static constexpr SlotName kLayer[] = {
      {"self.q.norm", "attention.self.layer_norm_q"},
      {"self.k.norm", "attention.self.layer_norm_k"},
      {"self.sum_norm", "attention.output.LayerNorm"},
      {"self.norm", "layer_norm_1"},
      {"ffn.out", "mlp.down_layer"},
      {"ffn.norm", "layer_norm_2"},
  };
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  static constexpr const char* kIn[] = {"ffn.in", "ffn.gate"};
  AddSlices("encoder.{}.", kIn, WithPrefixes(layers, {"mlp.up_gated_layer"}),
            Bias::kNo, names);
}

void AddNames(const std::string& prefix, bool query_norms, NameTable& names) {
  AddBertEmbeddings(prefix, names);
  AddTensor(
      "encoder.embedding.types",
      WithPrefixes({prefix, ""}, {"embeddings.token_type_embeddings.weight"}),
      names);
  const std::vector<std::string> layers = {prefix + "encoder.layer.{}.",
                                           "encoder.layer.{}."};
  static constexpr SlotName kLayer[] = {
      {"self.q", "attention.self.query"},
      {"self.k", "attention.self.key"},
      {"self.v", "attention.self.value"},
      {"self.out", "attention.output.dense"},
  };
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  if (query_norms) {
    AddNormedLayers(layers, names);
  } else {
    AddPlainLayers(layers, names);
  }
  AddUnused({prefix, ""}, {"pooler.dense.weight", "pooler.dense.bias"}, names);
}

}  // namespace

absl::StatusOr<Family> LoadJinaBert(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(const float epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-12f));
  ASSIGN_OR_RETURN(family.spec,
                   EncoderSpec(config, {.position_type = "alibi"}, epsilon));
  StackSpec& encoder = *family.spec.encoder;
  encoder.embedding.positions = Positions::kNone;
  ASSIGN_OR_RETURN(encoder.embedding.token_types,
                   NumberOr(config, "type_vocab_size", 2, kTokenTypes));
  ASSIGN_OR_RETURN(const Activation gate, GateOf(config));
  ASSIGN_OR_RETURN(const bool query_norms, HasQueryNorms(config));
  for (LayerSpec& layer : encoder.layers) {
    layer.self_attention.slopes = AlibiSlopes(layer.self_attention.heads);
    layer.self_attention.symmetric = true;
    layer.feed_forward.activation = gate;
    layer.feed_forward.gated = true;
    if (!query_norms) continue;
    layer.self_attention.head_norm = layer.norm;
    layer.self_attention.joint_norm = true;
    layer.sum_norm = true;
  }
  AddNames("bert.", query_norms, family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kJinaBertClasses,
                               BertHeads(family.spec, "bert."), family));
  return family;
}

}  // namespace attend
