// Jina embeddings v2: Günther et al. 2023. BERT with linear biases and gated
// feed-forward layers; model_type is "bert".

#include <string>
#include <vector>

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

void AddNames(const std::string& prefix, NameTable& names) {
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
      {"self.norm", "attention.output.LayerNorm"},
      {"ffn.out", "mlp.wo"},
      {"ffn.norm", "mlp.layernorm"},
  };
  AddList("encoder.{}.", layers, kLayer, Bias::kYes, names);
  static constexpr const char* kIn[] = {"ffn.gate", "ffn.in"};
  AddSlices("encoder.{}.", kIn, WithPrefixes(layers, {"mlp.gated_layers"}),
            Bias::kNo, names);
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
  for (LayerSpec& layer : encoder.layers) {
    layer.self_attention.slopes = AlibiSlopes(layer.self_attention.heads);
    layer.self_attention.symmetric = true;
    layer.feed_forward.activation = gate;
    layer.feed_forward.gated = true;
  }
  AddNames("bert.", family.names);
  RETURN_IF_ERROR(AddUsualHead(config, kJinaBertClasses,
                               BertHeads(family.spec, "bert."), family));
  return family;
}

}  // namespace attend
