// GPT-NeoX: Black et al. 2022; Pythia.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> GptNeoXSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(DecoderSizes sizes, ReadDecoderSizes(config, {}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_eps", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.parallel,
                   config.BoolOr("use_parallel_residual", true));
  AttentionSpec& attention = layer.self_attention;
  ASSIGN_OR_RETURN(attention, DividedHeads(config, "num_attention_heads",
                                           sizes.heads, sizes.hidden));
  RotaryDefaults rotary = {.head_dim = attention.head_dim,
                           .max_positions = sizes.max_positions,
                           .partial = true};
  ASSIGN_OR_RETURN(rotary.theta,
                   config.FloatOr("rotary_emb_base", 10000, kRotaryTheta));
  ASSIGN_OR_RETURN(rotary.fraction, config.FloatOr("rotary_pct", 0.25, {0, 1}));
  ASSIGN_OR_RETURN(attention.rotary, ReadRotaryOf(config, rotary));
  ASSIGN_OR_RETURN(
      sizes.max_positions,
      RotaryPositions(config, *attention.rotary, sizes.max_positions));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"intermediate_size"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "hidden_act", "gelu"));
  return DecoderOf(sizes, layer);
}

absl::Status AddGptNeoXNames(const JsonFile& config,
                             const AttentionSpec& attention, NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", false));
  AddInAndOut(tied, {"gpt_neox.embed_in.weight", "embed_in.weight"},
              {"embed_out.weight", "lm_head.weight"}, names);
  const std::vector<std::string> model = {"gpt_neox.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"layers.{}."});
  AddWeights("decoder.norm", WithPrefixes(model, {"final_layer_norm"}),
             Bias::kYes, names);
  static constexpr SlotName kSlots[] = {
      {"self.norm", "input_layernorm"},
      {"ffn.norm", "post_attention_layernorm"},
      {"ffn.in", "mlp.dense_h_to_4h"},
      {"ffn.out", "mlp.dense_4h_to_h"}};
  AddList("decoder.{}.", layer, kSlots, Bias::kYes, names);
  ASSIGN_OR_RETURN(const Bias bias,
                   BiasFlag(config, "attention_bias", Bias::kYes));
  AddHeadSlices("decoder.{}.", attention,
                WithPrefixes(layer, {"attention.query_key_value"}), bias,
                names);
  AddList("decoder.{}.", layer, {{"self.out", "attention.dense"}}, bias, names);
  // Buffers that transformers before 4.40 saved.
  AddUnused(layer,
            {"attention.bias", "attention.masked_bias",
             "attention.rotary_emb.inv_freq"},
            names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGptNeox(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GptNeoXSpec(config));
  RETURN_IF_ERROR(AddGptNeoXNames(
      config, family.spec.decoder->layers.front().self_attention,
      family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "GPTNeoX", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
