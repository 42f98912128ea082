#include "engine/families/ctranslate2/load_ctranslate2.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/families/ctranslate2/ct2_attributes.h"
#include "engine/families/ctranslate2/ct2_layers.h"
#include "engine/families/ctranslate2/ct2_names.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The file says no limit where positions are rotated or relative; this is ours.
constexpr int kMaxPositions = 1 << 16;
constexpr IntRange kAny = {};

// The specifications whose models are loaded, and the revisions of their names.
constexpr char kEncoderDecoder[] = "TransformerSpec";
constexpr int kEncoderDecoderRevision = 7;
constexpr char kDecoder[] = "TransformerDecoderSpec";
constexpr int kDecoderRevision = 8;

absl::Status CheckSpec(const Ct2Model& model) {
  const auto is = [&](const char* spec, int revision) {
    return model.spec() == spec && model.revision() == revision;
  };
  if (is(kEncoderDecoder, kEncoderDecoderRevision) ||
      is(kDecoder, kDecoderRevision)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(model.path(), ": the specification is ", model.spec(),
                   " revision ", model.revision(), ", expected ",
                   kEncoderDecoder, " revision ", kEncoderDecoderRevision,
                   " or ", kDecoder, " revision ", kDecoderRevision));
}

// The attribute is a flag, for the root of the width, or the factor itself.
absl::Status SetScale(const std::string& stack, Ct2Attributes& attributes,
                      EmbeddingSpec& embedding) {
  const std::string name = stack + "/scale_embeddings";
  const float root = std::sqrt(static_cast<float>(embedding.width));
  if (attributes.IsFloat(name)) {
    ASSIGN_OR_RETURN(embedding.scale, attributes.Float(name, {1e-6, 1e6}, 1));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int scaled, attributes.Int(name, {0, 1}, 1));
  if (scaled == 1) embedding.scale = root;
  return absl::OkStatus();
}

// The bias of distances: that of the first layer, which the others repeat.
absl::Status SetRelativeBias(const Ct2Source& source, const std::string& name,
                             StackSpec& stack) {
  const auto at = [&](size_t layer, const char* field) {
    return absl::StrCat(name, "/layer_", layer,
                        "/self_attention/relative_attention_", field);
  };
  if (!source.model.Has(at(0, "bias"))) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TensorView first, source.model.Find(at(0, "bias")));
  const bool decoder = name == "decoder";
  RelativeBiasSpec bias;
  ASSIGN_OR_RETURN(const std::vector<int> shape,
                   Ct2Shape(source.model, at(0, "bias"), {4, 1 << 12}, kHeads));
  bias.buckets = shape[0];
  ASSIGN_OR_RETURN(
      bias.max_distance,
      source.attributes.Int(at(0, "max_distance"),
                            {bias.buckets / (decoder ? 2 : 4) + 1, 1 << 20}));
  for (size_t layer = 1; layer < stack.layers.size(); ++layer) {
    RETURN_IF_ERROR(
        source.attributes.Expect(at(layer, "max_distance"), bias.max_distance));
    ASSIGN_OR_RETURN(const TensorView other,
                     source.model.Find(at(layer, "bias")));
    if (other.bytes.data() == first.bytes.data()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        other.place, " is a bias of this layer, expected that of layer 0"));
  }
  stack.relative_bias = bias;
  return absl::OkStatus();
}

absl::Status SetPositions(const Ct2Source& source, const std::string& name,
                          StackSpec& stack) {
  const std::string table = name + "/position_encodings/encodings";
  EmbeddingSpec& embedding = stack.embedding;
  RETURN_IF_ERROR(SetRelativeBias(source, name, stack));
  if (source.model.Has(table)) {
    ASSIGN_OR_RETURN(const std::vector<int> shape,
                     Ct2Shape(source.model, table, kPositions,
                              {embedding.width, embedding.width}));
    embedding.positions = Positions::kLearned;
    embedding.max_positions = shape[0];
    return absl::OkStatus();
  }
  embedding.positions = Positions::kNone;
  embedding.max_positions = kMaxPositions;
  if (stack.relative_bias || stack.layers.front().self_attention.rotary) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      source.model.path(), ": the ", name, " has no positions, expected ",
      table, ", or rotary or relative positions in its layers"));
}

absl::StatusOr<StackSpec> Stack(const Ct2Source& source,
                                const std::string& name) {
  Ct2Attributes& attributes = source.attributes;
  StackSpec stack;
  ASSIGN_OR_RETURN(stack.layers, Ct2Layers(source, name));
  EmbeddingSpec& embedding = stack.embedding;
  ASSIGN_OR_RETURN(
      const std::vector<int> shape,
      Ct2Shape(source.model, Ct2TokenTable(name), kVocab, kHidden));
  embedding.vocab = shape[0];
  embedding.width = shape[1];
  RETURN_IF_ERROR(SetScale(name, attributes, embedding));
  if (source.model.Has(name + "/layernorm_embedding/gamma")) {
    ASSIGN_OR_RETURN(embedding.norm,
                     Ct2Norm(source, name + "/layernorm_embedding"));
  }
  RETURN_IF_ERROR(SetPositions(source, name, stack));
  return stack;
}

// The attributes of a decoder alone, and those that do not change the results.
absl::Status SetDecoder(const Ct2Source& source, TransformerSpec& spec) {
  Ct2Attributes& attributes = source.attributes;
  for (const char* name :
       {"decoder/alibi", "decoder/alibi_use_positive_positions",
        "decoder/scale_alibi"}) {
    RETURN_IF_ERROR(attributes.Expect(name, 0));
  }
  RETURN_IF_ERROR(attributes.Int("decoder/alignment_layer", kAny, 0).status());
  RETURN_IF_ERROR(attributes.Int("decoder/alignment_heads", kAny, 0).status());
  ASSIGN_OR_RETURN(spec.decoder->embedding.zero_start,
                   attributes.Flag("decoder/start_from_zero_embedding"));
  ASSIGN_OR_RETURN(spec.logits_scale,
                   attributes.Float("decoder/scale_outputs", {1e-6, 1e6}, 1));
  ASSIGN_OR_RETURN(
      spec.logits_softcap,
      attributes.Float("decoder/final_logit_softcapping", {0, 1e6}, 0));
  spec.logits_bias = source.model.Has("decoder/projection/bias");
  return absl::OkStatus();
}

// What files before version 6 say in place of config.json.
absl::Status CheckOlder(Ct2Attributes& attributes) {
  RETURN_IF_ERROR(attributes.Expect("with_source_bos", 0));
  RETURN_IF_ERROR(attributes.Expect("with_target_bos", 1));
  // The tokenizer ends a source.
  return attributes.Int("with_source_eos", {0, 1}, 0).status();
}

void AddLogits(bool bias, NameTable& names) {
  AddTensor("logits.weight", {"decoder/projection/weight"}, names);
  if (bias) AddTensor("logits.bias", {"decoder/projection/bias"}, names);
}

}  // namespace

absl::StatusOr<Family> LoadCtranslate2(const Ct2Model& model,
                                       const JsonFile& config) {
  RETURN_IF_ERROR(CheckSpec(model));
  // Another kind than CTranslate2's own has other tensors in its layers.
  RETURN_IF_ERROR(config.ExpectNeutral("quantization_type", 0));
  Ct2Attributes attributes(model);
  const Ct2Source source = {model, config, attributes};
  Family family;
  family.model_type = "ctranslate2";
  TransformerSpec& spec = family.spec;
  if (model.spec() == kEncoderDecoder) {
    ASSIGN_OR_RETURN(spec.encoder, Stack(source, "encoder"));
    // How several inputs are joined; there is one.
    RETURN_IF_ERROR(
        attributes.Int("encoder/embeddings_merge", kAny, 0).status());
    RETURN_IF_ERROR(
        attributes.Int("encoder/multi_query_attention", kAny, 0).status());
    AddCt2Names(model, "encoder", *spec.encoder, family.names);
  }
  ASSIGN_OR_RETURN(spec.decoder, Stack(source, "decoder"));
  spec.hidden = spec.decoder->embedding.width;
  if (spec.SourceEmbedding().width != spec.hidden) {
    return absl::InvalidArgumentError(absl::StrCat(
        model.path(), ": variable ", Ct2TokenTable("encoder"), " has ",
        spec.SourceEmbedding().width, " columns, expected ", spec.hidden,
        ", as ", Ct2TokenTable("decoder"), " has"));
  }
  RETURN_IF_ERROR(SetDecoder(source, spec));
  AddCt2Names(model, "decoder", *spec.decoder, family.names);
  AddLogits(spec.logits_bias, family.names);
  RETURN_IF_ERROR(CheckOlder(attributes));
  RETURN_IF_ERROR(attributes.CheckAllRead());
  return family;
}

}  // namespace attend
