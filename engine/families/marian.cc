#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/families/family.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Far above every model that exists; far below what would overflow an int or
// allocate without bound.
constexpr IntRange kVocab = {1, 1 << 22};
constexpr IntRange kHidden = {2, 1 << 14};
constexpr IntRange kHeads = {1, 256};
constexpr IntRange kWidth = {1, 1 << 17};
constexpr IntRange kLayers = {1, 128};
constexpr IntRange kPositions = {2, 1 << 16};

// A number that has a second spelling, which transformers maps to the first.
absl::StatusOr<int> Number(const JsonFile& config, absl::string_view key,
                           absl::string_view alias, IntRange range) {
  if (!config.Has(key) && config.Has(alias)) key = alias;
  ASSIGN_OR_RETURN(const int64_t number, config.Int(key, range));
  if (config.Has(alias)) {
    RETURN_IF_ERROR(config.Int(alias, {number, number}).status());
  }
  return static_cast<int>(number);
}

absl::StatusOr<Activation> ActivationOf(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string name,
                   config.StringOr("activation_function", "gelu"));
  if (name == "relu") return Activation::kRelu;
  if (name == "gelu" || name == "gelu_python") return Activation::kGelu;
  if (name == "silu" || name == "swish") return Activation::kSilu;
  return config.Unexpected("activation_function", "gelu, relu, silu or swish");
}

// What would be another model.
absl::Status CheckSupported(const JsonFile& config) {
  if (config.Has("architectures")) {
    ASSIGN_OR_RETURN(const auto names, config.Strings("architectures"));
    if (names != std::vector<std::string>{"MarianMTModel"}) {
      return config.Unexpected("architectures", "[\"MarianMTModel\"]");
    }
  }
  ASSIGN_OR_RETURN(const bool fixed,
                   config.BoolOr("static_position_embeddings", true));
  if (!fixed) return config.Unexpected("static_position_embeddings", "true");
  ASSIGN_OR_RETURN(const bool both, config.BoolOr("is_encoder_decoder", true));
  if (!both) return config.Unexpected("is_encoder_decoder", "true");
  for (const absl::string_view key :
       {"is_decoder", "normalize_before", "normalize_embedding",
        "add_final_layer_norm"}) {
    ASSIGN_OR_RETURN(const bool on, config.BoolOr(key, false));
    if (on) return config.Unexpected(key, "false");
  }
  return absl::OkStatus();
}

// `side` is "encoder" or "decoder".
absl::StatusOr<StackSpec> Stack(const JsonFile& config, const std::string& side,
                                int hidden) {
  const bool decoder = side == "decoder";
  const auto alias = [&](absl::string_view name) {
    return decoder ? absl::string_view() : name;
  };
  ASSIGN_OR_RETURN(const int heads,
                   Number(config, side + "_attention_heads",
                          alias("num_attention_heads"), kHeads));
  ASSIGN_OR_RETURN(
      const int layers,
      Number(config, side + "_layers", alias("num_hidden_layers"), kLayers));
  ASSIGN_OR_RETURN(const int width,
                   Number(config, side + "_ffn_dim", "", kWidth));
  if (hidden % heads != 0) {
    return config.Unexpected(side + "_attention_heads",
                             absl::StrCat("a divisor of d_model = ", hidden));
  }
  AttentionSpec attention;
  attention.heads = attention.kv_heads = heads;
  attention.head_dim = hidden / heads;
  attention.scale = 1 / std::sqrt(static_cast<float>(attention.head_dim));

  LayerSpec layer;
  layer.norm = {.kind = NormKind::kLayerNorm, .epsilon = 1e-5f};
  layer.norm_place = NormPlace::kPost;
  layer.self_attention = attention;
  if (decoder) layer.cross_attention = attention;
  layer.feed_forward.width = width;
  ASSIGN_OR_RETURN(layer.feed_forward.activation, ActivationOf(config));

  StackSpec stack;
  stack.layers.assign(layers, layer);
  stack.causal = decoder;
  stack.embedding.width = hidden;
  stack.embedding.positions = Positions::kSinusoidal;
  ASSIGN_OR_RETURN(const bool scaled, config.BoolOr("scale_embedding", false));
  if (scaled) stack.embedding.scale = std::sqrt(static_cast<float>(hidden));
  ASSIGN_OR_RETURN(stack.embedding.max_positions,
                   Number(config, "max_position_embeddings", "", kPositions));
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
  static constexpr std::pair<const char*, const char*> kLayer[] = {
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
    for (const auto& [slot, tensor] : kLayer) {
      for (const char* part : {".weight", ".bias"}) {
        names.rows.push_back(
            {absl::StrCat(stack, ".{}.", slot, part),
             {absl::StrCat("model.", stack, ".layers.{}.", tensor, part)}});
      }
    }
  }
  return names;
}

}  // namespace

absl::StatusOr<Family> LoadMarian(const JsonFile& config) {
  RETURN_IF_ERROR(CheckSupported(config));
  ASSIGN_OR_RETURN(const int hidden,
                   Number(config, "d_model", "hidden_size", kHidden));
  if (hidden % 2 != 0) {
    return config.Unexpected("d_model", "an even number, for the sinusoids");
  }
  ASSIGN_OR_RETURN(const int64_t vocab, config.Int("vocab_size", kVocab));
  ASSIGN_OR_RETURN(const int64_t target_vocab,
                   config.IntOr("decoder_vocab_size", vocab, kVocab));
  ASSIGN_OR_RETURN(const bool shared,
                   config.BoolOr("share_encoder_decoder_embeddings", true));
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));

  Family family;
  family.model_type = "marian";
  family.spec.hidden = hidden;
  ASSIGN_OR_RETURN(family.spec.encoder, Stack(config, "encoder", hidden));
  ASSIGN_OR_RETURN(family.spec.decoder, Stack(config, "decoder", hidden));
  family.spec.encoder->embedding.vocab = static_cast<int>(vocab);
  // decoder_vocab_size counts only where the embeddings are separate.
  family.spec.decoder->embedding.vocab =
      static_cast<int>(shared ? vocab : target_vocab);
  family.spec.logits_bias = true;
  family.names = Names(shared, tied);
  return family;
}

}  // namespace attend
