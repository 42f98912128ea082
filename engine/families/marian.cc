#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/family.h"
#include "engine/families/fields.h"
#include "engine/families/names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// What would be another model.
absl::Status CheckSupported(const JsonFile& config) {
  RETURN_IF_ERROR(Architecture(config, {"MarianMTModel"}).status());
  RETURN_IF_ERROR(ExpectFlags(
      config, {"static_position_embeddings", "is_encoder_decoder"}, true));
  return ExpectFlags(config,
                     {"is_decoder", "normalize_before", "normalize_embedding",
                      "add_final_layer_norm"},
                     false);
}

// `side` is "encoder" or "decoder".
absl::StatusOr<StackSpec> Stack(const JsonFile& config, const std::string& side,
                                int hidden) {
  const bool decoder = side == "decoder";
  const std::string heads_key = side + "_attention_heads";
  const std::string layers_key = side + "_layers";
  // The other spelling means the encoder's.
  ASSIGN_OR_RETURN(
      const int heads,
      Number(config, {heads_key, decoder ? heads_key : "num_attention_heads"},
             kHeads));
  ASSIGN_OR_RETURN(
      const int layers,
      Number(config, {layers_key, decoder ? layers_key : "num_hidden_layers"},
             kLayers));
  ASSIGN_OR_RETURN(const int width,
                   Number(config, {side + "_ffn_dim"}, kWidth));
  ASSIGN_OR_RETURN(const AttentionSpec attention,
                   DividedHeads(config, heads_key, heads, hidden));

  LayerSpec layer;
  layer.norm = {.kind = NormKind::kLayerNorm, .epsilon = 1e-5f};
  layer.norm_place = NormPlace::kPost;
  layer.self_attention = attention;
  if (decoder) layer.cross_attention = attention;
  layer.feed_forward.width = width;
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "gelu"));

  StackSpec stack;
  stack.layers.assign(layers, layer);
  stack.causal = decoder;
  stack.embedding.width = hidden;
  stack.embedding.positions = Positions::kSinusoidal;
  ASSIGN_OR_RETURN(const bool scaled, config.BoolOr("scale_embedding", false));
  if (scaled) stack.embedding.scale = std::sqrt(static_cast<float>(hidden));
  ASSIGN_OR_RETURN(stack.embedding.max_positions,
                   Number(config, {"max_position_embeddings"}, kPositions));
  return stack;
}

// Where the embeddings are. A tied matrix is stored once, under the name that
// the program which saved it liked best.
void NameEmbeddings(bool shared, bool tied, NameTable& names) {
  const std::string both = "model.shared.weight";
  const std::string source = "model.encoder.embed_tokens.weight";
  const std::string target = "model.decoder.embed_tokens.weight";
  const std::string head = "lm_head.weight";
  names.unused = {"model.encoder.embed_positions.weight",
                  "model.decoder.embed_positions.weight"};
  if (shared && tied) {
    const std::vector<std::string> any = {both, source, target, head};
    names.rows.push_back({"encoder.embedding.tokens", any});
    names.rows.push_back({"decoder.embedding.tokens", any});
    names.rows.push_back({"logits.weight", any});
    names.unused.insert(names.unused.end(), any.begin(), any.end());
    return;
  }
  names.rows.push_back({"encoder.embedding.tokens", {source, both}});
  names.rows.push_back(
      {"decoder.embedding.tokens", {target, tied ? head : both}});
  names.rows.push_back({"logits.weight", {tied ? target : head, head}});
  names.unused.push_back(tied ? head : both);
}

NameTable Names(bool shared, bool tied) {
  NameTable names;
  NameEmbeddings(shared, tied, names);
  names.rows.push_back(
      {"logits.bias", {"final_logits_bias"}, /*zero_if_missing=*/true});
  // Slot, tensor; the decoder has all of them, the encoder no cross-attention.
  static constexpr SlotName kLayer[] = {
      {"self.q", "self_attn.q_proj"},
      {"self.k", "self_attn.k_proj"},
      {"self.v", "self_attn.v_proj"},
      {"self.out", "self_attn.out_proj"},
      {"self.norm", "self_attn_layer_norm"},
      {"cross.q", "encoder_attn.q_proj"},
      {"cross.k", "encoder_attn.k_proj"},
      {"cross.v", "encoder_attn.v_proj"},
      {"cross.out", "encoder_attn.out_proj"},
      {"cross.norm", "encoder_attn_layer_norm"},
      {"ffn.in", "fc1"},
      {"ffn.out", "fc2"},
      {"ffn.norm", "final_layer_norm"},
  };
  for (const char* stack : {"encoder", "decoder"}) {
    AddList(absl::StrCat(stack, ".{}."),
            {absl::StrCat("model.", stack, ".layers.{}.")}, kLayer,
            Parts::kWeightAndBias, names);
  }
  return names;
}

}  // namespace

absl::StatusOr<Family> LoadMarian(const JsonFile& config) {
  RETURN_IF_ERROR(CheckSupported(config));
  ASSIGN_OR_RETURN(const int hidden,
                   Number(config, {"d_model", "hidden_size"}, kHidden));
  if (hidden % 2 != 0) {
    return config.Unexpected("d_model", "an even number, for the sinusoids");
  }
  ASSIGN_OR_RETURN(const int vocab, Number(config, {"vocab_size"}, kVocab));
  ASSIGN_OR_RETURN(const int target_vocab,
                   NumberOr(config, "decoder_vocab_size", vocab, kVocab));
  ASSIGN_OR_RETURN(const bool shared,
                   config.BoolOr("share_encoder_decoder_embeddings", true));
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));

  Family family;
  family.spec.hidden = hidden;
  ASSIGN_OR_RETURN(family.spec.encoder, Stack(config, "encoder", hidden));
  ASSIGN_OR_RETURN(family.spec.decoder, Stack(config, "decoder", hidden));
  family.spec.encoder->embedding.vocab = vocab;
  // decoder_vocab_size counts only where the embeddings are separate.
  family.spec.decoder->embedding.vocab = shared ? vocab : target_vocab;
  family.spec.logits_bias = true;
  family.names = Names(shared, tied);
  return family;
}

}  // namespace attend
