// T5Gemma: Zhang et al. 2025. An encoder and a decoder in the shape of Gemma 2.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/drop_decoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kEncoderAlone[] = "T5GemmaEncoderModel";

constexpr HeadClass kT5GemmaClasses[] = {
    {"T5GemmaForConditionalGeneration"},
    {"T5GemmaModel"},
    {kEncoderAlone},
    {"T5GemmaForSequenceClassification", HeadKind::kSequence},
    {"T5GemmaForTokenClassification", HeadKind::kTokens},
};

// The stack that section `key` describes, as one of Gemma 2.
absl::StatusOr<TransformerSpec> Gemma(const JsonFile& config, const char* key) {
  ASSIGN_OR_RETURN(const JsonFile section, config.Object(key));
  ASSIGN_OR_RETURN(Family family, LoadGemma2(section));
  if (family.spec.decoder) return std::move(family.spec);
  return section.Unexpected("use_bidirectional_attention", "false");
}

absl::StatusOr<TransformerSpec> T5GemmaSpec(const JsonFile& config,
                                            bool encoder_alone) {
  ASSIGN_OR_RETURN(TransformerSpec source, Gemma(config, "encoder"));
  ASSIGN_OR_RETURN(TransformerSpec spec, Gemma(config, "decoder"));
  if (encoder_alone) {
    spec.hidden = source.hidden;
  } else if (source.hidden != spec.hidden) {
    ASSIGN_OR_RETURN(const JsonFile section, config.Object("decoder"));
    return section.Unexpected(
        "hidden_size", absl::StrCat("that of the encoder, ", source.hidden));
  }
  spec.encoder = std::move(source.decoder);
  for (LayerSpec& layer : spec.encoder->layers) {
    // sliding_window counts the token itself in decoders alone.
    int& window = layer.self_attention.window;
    if (window > 0) ++window;
  }
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.cross_attention = layer.self_attention;
    layer.cross_attention->rotary.reset();
    layer.cross_attention->window = 0;
  }
  return spec;
}

// Returns true if the attention of a stack has biases.
absl::StatusOr<Bias> AttentionBias(const JsonFile& config,
                                   const std::string& stack) {
  ASSIGN_OR_RETURN(const JsonFile section, config.Object(stack));
  return BiasFlag(section, "attention_bias");
}

absl::Status AddStack(const JsonFile& config, const std::string& stack,
                      NameTable& names) {
  static constexpr SlotName kSelf[] = {{"self.q", "self_attn.q_proj"},
                                       {"self.k", "self_attn.k_proj"},
                                       {"self.v", "self_attn.v_proj"},
                                       {"self.out", "self_attn.o_proj"}};
  static constexpr SlotName kCross[] = {{"cross.q", "cross_attn.q_proj"},
                                        {"cross.k", "cross_attn.k_proj"},
                                        {"cross.v", "cross_attn.v_proj"},
                                        {"cross.out", "cross_attn.o_proj"}};
  static constexpr SlotName kOthers[] = {
      {"ffn.gate", "mlp.gate_proj"},
      {"ffn.in", "mlp.up_proj"},
      {"ffn.out", "mlp.down_proj"},
      {"self.norm", "pre_self_attn_layernorm"},
      {"self.branch_norm", "post_self_attn_layernorm"},
      {"ffn.norm", "pre_feedforward_layernorm"},
      {"ffn.branch_norm", "post_feedforward_layernorm"}};
  static constexpr SlotName kCrossNorms[] = {
      {"cross.norm", "pre_cross_attn_layernorm"},
      {"cross.branch_norm", "post_cross_attn_layernorm"}};
  // A checkpoint of the model without its head has names without "model.".
  const std::vector<std::string> prefixes = {"model." + stack + ".",
                                             stack + "."};
  const std::vector<std::string> layers =
      WithPrefixes(prefixes, {"layers.{}."});
  const std::string slot = stack + ".{}.";
  ASSIGN_OR_RETURN(const Bias bias, AttentionBias(config, stack));
  AddList(slot, layers, kSelf, bias, names);
  AddList(slot, layers, kOthers, Bias::kNo, names);
  if (stack == "decoder") {
    AddList(slot, layers, kCross, bias, names);
    AddList(slot, layers, kCrossNorms, Bias::kNo, names);
  }
  AddWeights(stack + ".norm", WithPrefixes(prefixes, {"norm"}), Bias::kNo,
             names);
  return absl::OkStatus();
}

// Adds the tables of tokens and of the logits; `tied`: the file may lack the
// latter.
void AddTables(bool tied, NameTable& names) {
  const auto tokens = [](const char* stack) {
    return WithPrefixes({"model.", ""},
                        {absl::StrCat(stack, ".embed_tokens.weight")});
  };
  AddTensor("encoder.embedding.tokens", tokens("encoder"), names);
  AddInAndOut(tied, tokens("decoder"), {"lm_head.out_proj.weight"}, names);
}

// Adds a layer that reads the decoder if there is one, else the encoder: the
// vector of each token, or that of the last.
absl::Status AddT5GemmaHead(const JsonFile& config, HeadKind kind,
                            Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, kind, family));
  AddHead(kind, {{"score.out_proj", {}}}, family);
  HeadSpec& head = *family.spec.head;
  if (!family.spec.decoder) {
    if (kind == HeadKind::kSequence) head.pooling = Pooling::kLast;
    return absl::OkStatus();
  }
  head.reads_decoder = true;
  ASSIGN_OR_RETURN(const JsonFile section, config.Object("decoder"));
  const int vocab = family.spec.decoder->embedding.vocab;
  ASSIGN_OR_RETURN(head.first_id,
                   NumberOr(section, "bos_token_id", 2, {0, vocab - 1}));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadT5Gemma(const JsonFile& config) {
  ASSIGN_OR_RETURN(const HeadClass* const named,
                   ClassOf(config, kT5GemmaClasses));
  const bool has_head = named != nullptr && named->head;
  ASSIGN_OR_RETURN(const bool both, config.BoolOr("is_encoder_decoder", true));
  bool encoder_alone = named != nullptr && named->name == kEncoderAlone;
  // A class that labels reads the decoder or the encoder, as the file says.
  if (has_head) {
    encoder_alone = !both;
  } else if (!encoder_alone) {
    RETURN_IF_ERROR(ExpectFlags(config, {"is_encoder_decoder"}, true));
  }
  RETURN_IF_ERROR(ExpectFlags(config, {"is_decoder"}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, T5GemmaSpec(config, encoder_alone));
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddTables(tied || has_head, family.names);
  RETURN_IF_ERROR(AddStack(config, "encoder", family.names));
  RETURN_IF_ERROR(AddStack(config, "decoder", family.names));
  if (encoder_alone) DropDecoder(family);
  if (has_head) RETURN_IF_ERROR(AddT5GemmaHead(config, *named->head, family));
  return family;
}

}  // namespace attend
