// BLOOM: Le Scao et al. 2022.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/alibi.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> BloomSpec(const JsonFile& config) {
  const DecoderKeys keys = {
      .hidden = config.Has("n_embed") ? "n_embed" : "hidden_size",
      .heads = "n_head",
      .layers = "n_layer",
      .positions = "seq_length",
      // The length of training; transformers has no limit.
      .max_positions = 2048};
  ASSIGN_OR_RETURN(const DecoderSizes sizes, ReadDecoderSizes(config, keys));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, "n_head", sizes.heads, sizes.hidden));
  layer.self_attention.slopes = AlibiSlopes(sizes.heads);
  layer.feed_forward = {.width = 4 * sizes.hidden,
                        .activation = Activation::kGeluTanh};
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.decoder->embedding.norm = layer.norm;
  return spec;
}

absl::Status AddBloomNames(const JsonFile& config,
                           const AttentionSpec& attention, NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"h.{}."});
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"word_embeddings.weight"}),
              {"lm_head.weight"}, names);
  AddWeights("decoder.embedding.norm",
             WithPrefixes(model, {"word_embeddings_layernorm"}), Bias::kYes,
             names);
  AddWeights("decoder.norm", WithPrefixes(model, {"ln_f"}), Bias::kYes, names);
  static constexpr SlotName kSlots[] = {
      {"self.norm", "input_layernorm"},
      {"self.out", "self_attention.dense"},
      {"ffn.norm", "post_attention_layernorm"},
      {"ffn.in", "mlp.dense_h_to_4h"},
      {"ffn.out", "mlp.dense_4h_to_h"}};
  AddList("decoder.{}.", layer, kSlots, Bias::kYes, names);
  AddHeadSlices("decoder.{}.", attention,
                WithPrefixes(layer, {"self_attention.query_key_value"}),
                Bias::kYes, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadBloom(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(
      config, {"apply_residual_connection_post_layernorm", "slow_but_exact"},
      false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, BloomSpec(config));
  RETURN_IF_ERROR(
      AddBloomNames(config, family.spec.decoder->layers.front().self_attention,
                    family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "Bloom", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
