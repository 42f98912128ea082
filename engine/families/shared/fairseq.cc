#include "engine/families/shared/fairseq.h"

#include <cmath>
#include <string>
#include <vector>

#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The id of padding. Position 0 is row padding + 1 of the table.
constexpr IntRange kPadding = {0, kPositions.max};

// The names of a tensor that is not of the head. A checkpoint of the model
// without its head has names without "model.".
std::vector<std::string> Named(const std::string& tensor) {
  return {"model." + tensor, tensor};
}

// `side` is "encoder" or "decoder".
absl::StatusOr<LayerSpec> Layer(const JsonFile& config, const std::string& side,
                                int hidden, const FairseqDefaults& defaults) {
  const bool decoder = side == "decoder";
  const std::string key = side + "_attention_heads";
  ASSIGN_OR_RETURN(
      const int heads,
      Number(config, {key, decoder ? key : "num_attention_heads"}, kHeads));
  LayerSpec layer;
  layer.norm = {.kind = NormKind::kLayerNorm, .epsilon = kFairseqEpsilon};
  layer.norm_place = defaults.norm_place;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, key, heads, hidden));
  if (decoder) layer.cross_attention = layer.self_attention;
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {side + "_ffn_dim"}, kWidth));
  ASSIGN_OR_RETURN(
      layer.feed_forward.activation,
      ActivationOr(config, "activation_function", defaults.activation));
  return layer;
}

absl::StatusOr<StackSpec> Stack(const JsonFile& config, const std::string& side,
                                int hidden, const FairseqDefaults& defaults) {
  StackSpec stack;
  const std::string key = side + "_layers";
  ASSIGN_OR_RETURN(
      const int layers,
      Number(config, {key, side == "decoder" ? key : "num_hidden_layers"},
             kLayers));
  ASSIGN_OR_RETURN(const LayerSpec layer,
                   Layer(config, side, hidden, defaults));
  stack.layers.assign(layers, layer);

  EmbeddingSpec& embedding = stack.embedding;
  ASSIGN_OR_RETURN(embedding.vocab,
                   Number(config,
                          {side == "decoder" ? defaults.target_vocab
                                             : defaults.source_vocab},
                          kVocab));
  embedding.width = hidden;
  embedding.positions = Positions::kSinusoidal;
  ASSIGN_OR_RETURN(embedding.max_positions,
                   Number(config, {"max_position_embeddings"}, kPositions));
  ASSIGN_OR_RETURN(embedding.scale,
                   FairseqScale(config, hidden, defaults.scale_embedding));
  return stack;
}

EmbeddingSpec& EmbeddingOf(const std::string& stack, Family& family) {
  return stack == "encoder" ? family.spec.encoder->embedding
                            : family.spec.decoder->embedding;
}

}  // namespace

absl::StatusOr<TransformerSpec> FairseqSpec(const JsonFile& config,
                                            const FairseqDefaults& defaults) {
  RETURN_IF_ERROR(ExpectFlags(config, {"is_encoder_decoder"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"is_decoder"}, false));
  TransformerSpec spec;
  ASSIGN_OR_RETURN(spec.hidden,
                   Number(config, {"d_model", "hidden_size"}, kHidden));
  ASSIGN_OR_RETURN(spec.encoder,
                   Stack(config, "encoder", spec.hidden, defaults));
  ASSIGN_OR_RETURN(spec.decoder,
                   Stack(config, "decoder", spec.hidden, defaults));
  return spec;
}

void UseBartEmbeddings(Family& family) {
  UseLearnedPositions(2, family);
  UseEmbeddingNorms(family);
}

void UseLearnedPositions(int offset, Family& family) {
  for (const std::string stack : {"encoder", "decoder"}) {
    EmbeddingSpec& embedding = EmbeddingOf(stack, family);
    embedding.positions = Positions::kLearned;
    embedding.position_offset = offset;
    AddTensor(stack + ".embedding.positions",
              Named(stack + ".embed_positions.weight"), family.names);
  }
}

void UseEmbeddingNorms(Family& family) {
  for (const std::string stack : {"encoder", "decoder"}) {
    EmbeddingOf(stack, family).norm = {.kind = NormKind::kLayerNorm,
                                       .epsilon = kFairseqEpsilon};
    AddWeights(stack + ".embedding.norm", Named(stack + ".layernorm_embedding"),
               Bias::kYes, family.names);
  }
}

absl::Status UseCountedSinusoids(const JsonFile& config, Family& family) {
  if (family.spec.hidden % 2 != 0 || family.spec.hidden < 4) {
    return config.Unexpected("d_model",
                             "an even number above 2, for the sinusoids");
  }
  ASSIGN_OR_RETURN(const int pad,
                   NumberOr(config, "pad_token_id", 1, kPadding));
  for (const std::string stack : {"encoder", "decoder"}) {
    EmbeddingSpec& embedding = EmbeddingOf(stack, family);
    embedding.positions = Positions::kSinusoidalToEnd;
    embedding.position_offset = pad + 1;
  }
  family.spec.encoder->embedding.uncounted_id = pad;
  AddUnusedPositions(family);
  return absl::OkStatus();
}

void AddFairseqBranches(const std::string& slot,
                        const std::vector<std::string>& prefixes,
                        NameTable& names) {
  static constexpr SlotName kBranches[] = {
      {"self.q", "self_attn.q_proj"},
      {"self.k", "self_attn.k_proj"},
      {"self.v", "self_attn.v_proj"},
      {"self.out", "self_attn.out_proj"},
      {"self.norm", "self_attn_layer_norm"},
      {"ffn.in", "fc1"},
      {"ffn.out", "fc2"},
      {"ffn.norm", "final_layer_norm"},
  };
  AddList(slot, prefixes, kBranches, Bias::kYes, names);
}

absl::StatusOr<float> FairseqScale(const JsonFile& config, int hidden,
                                   bool fallback) {
  ASSIGN_OR_RETURN(const bool scaled,
                   config.BoolOr("scale_embedding", fallback));
  return scaled ? std::sqrt(static_cast<float>(hidden)) : 1.0f;
}

absl::Status AddFairseqDecoder(const JsonFile& config,
                               const std::string& prefix,
                               const std::string& logits, NameTable& names) {
  const std::vector<std::string> prefixes = {prefix, ""};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(prefixes, {"embed_tokens.weight"}),
              {logits + ".weight"}, names);
  AddWeights("decoder.norm", WithPrefixes(prefixes, {"layer_norm"}), Bias::kYes,
             names);
  AddFairseqBranches("decoder.{}.", WithPrefixes(prefixes, {"layers.{}."}),
                     names);
  return absl::OkStatus();
}

void AddFairseqLayers(Family& family) {
  static constexpr SlotName kCross[] = {
      {"cross.q", "encoder_attn.q_proj"},
      {"cross.k", "encoder_attn.k_proj"},
      {"cross.v", "encoder_attn.v_proj"},
      {"cross.out", "encoder_attn.out_proj"},
      {"cross.norm", "encoder_attn_layer_norm"},
  };
  NameTable& names = family.names;
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string slot = stack + ".{}.";
    const std::vector<std::string> layers = Named(stack + ".layers.{}.");
    AddFairseqBranches(slot, layers, names);
    if (stack == "decoder") {
      AddList(slot, layers, kCross, Bias::kYes, names);
    }
    if (family.spec.encoder->layers.front().norm_place == NormPlace::kPre) {
      AddWeights(stack + ".norm", Named(stack + ".layer_norm"), Bias::kYes,
                 names);
    }
  }
}

absl::Status AddFairseqTokens(const JsonFile& config, Family& family) {
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddSharedTokens(tied, family.names);
  return absl::OkStatus();
}

void AddFairseqLogitsBias(Family& family) {
  family.spec.logits_bias = true;
  family.names.rows.push_back(
      {"logits.bias", {"final_logits_bias"}, /*zero_if_missing=*/true});
}

void AddUnusedPositions(Family& family) {
  for (const std::string stack : {"encoder", "decoder"}) {
    AddUnused(Named(stack + ".embed_positions"), {".weight", ".weights"},
              family.names);
  }
}

}  // namespace attend
