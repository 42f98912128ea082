// OPT: Zhang et al. 2022.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/family.h"
#include "engine/families/fields.h"
#include "engine/families/names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> Spec(const JsonFile& config) {
  TransformerSpec spec;
  ASSIGN_OR_RETURN(spec.hidden, Number(config, {"hidden_size"}, kHidden));
  StackSpec& decoder = spec.decoder.emplace();
  decoder.causal = true;
  EmbeddingSpec& embedding = decoder.embedding;
  ASSIGN_OR_RETURN(embedding.vocab, Number(config, {"vocab_size"}, kVocab));
  ASSIGN_OR_RETURN(embedding.max_positions,
                   Number(config, {"max_position_embeddings"}, kPositions));
  embedding.width = spec.hidden;
  embedding.positions = Positions::kLearned;
  embedding.position_offset = 2;

  LayerSpec layer;
  ASSIGN_OR_RETURN(const bool before,
                   config.BoolOr("do_layer_norm_before", true));
  layer.norm_place = before ? NormPlace::kPre : NormPlace::kPost;
  ASSIGN_OR_RETURN(const int heads,
                   Number(config, {"num_attention_heads"}, kHeads));
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_attention_heads", heads, spec.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"ffn_dim"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "relu"));
  ASSIGN_OR_RETURN(const int layers,
                   Number(config, {"num_hidden_layers"}, kLayers));
  decoder.layers.assign(layers, layer);
  return spec;
}

absl::Status CheckSupported(const JsonFile& config, int hidden) {
  RETURN_IF_ERROR(CheckDecoderOf(config, "OPTForCausalLM"));
  RETURN_IF_ERROR(ExpectFlags(
      config, {"enable_bias", "layer_norm_elementwise_affine"}, true));
  RETURN_IF_ERROR(ExpectFlags(config, {"_remove_final_layer_norm"}, false));
  ASSIGN_OR_RETURN(const int width,
                   NumberOr(config, "word_embed_proj_dim", hidden, kHidden));
  if (width == hidden) return absl::OkStatus();
  return config.Unexpected("word_embed_proj_dim", "hidden_size");
}

absl::Status AddNames(const JsonFile& config, bool final_norm,
                      NameTable& names) {
  const std::vector<std::string> model = {"model.decoder.", "decoder."};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"embed_tokens.weight"}),
              {"lm_head.weight"}, names);
  AddTensor("decoder.embedding.positions",
            WithPrefixes(model, {"embed_positions.weight"}), names);
  if (final_norm) {
    AddParts("decoder.norm", WithPrefixes(model, {"final_layer_norm"}),
             Parts::kWeightAndBias, names);
  }
  static constexpr SlotName kParts[] = {{"self.norm", "self_attn_layer_norm"},
                                        {"ffn.norm", "final_layer_norm"},
                                        {"self.q", "self_attn.q_proj"},
                                        {"self.k", "self_attn.k_proj"},
                                        {"self.v", "self_attn.v_proj"},
                                        {"self.out", "self_attn.out_proj"},
                                        {"ffn.in", "fc1"},
                                        {"ffn.out", "fc2"}};
  AddList("decoder.{}.", WithPrefixes(model, {"layers.{}."}), kParts,
          Parts::kWeightAndBias, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadOpt(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, Spec(config));
  RETURN_IF_ERROR(CheckSupported(config, family.spec.hidden));
  const LayerSpec& layer = family.spec.decoder->layers.front();
  RETURN_IF_ERROR(
      AddNames(config, layer.norm_place == NormPlace::kPre, family.names));
  return family;
}

}  // namespace attend
