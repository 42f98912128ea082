// SantaCoder and StarCoder 1: Li et al. 2023. GPT-2 whose heads share a key and
// a value.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> GptBigCodeSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.hidden = "n_embd",
                                             .heads = "n_head",
                                             .layers = "n_layer",
                                             .positions = "n_positions"}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  AttentionSpec& attention = layer.self_attention;
  ASSIGN_OR_RETURN(attention,
                   DividedHeads(config, "n_head", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(const bool shared, config.BoolOr("multi_query", true));
  if (shared) attention.kv_heads = 1;
  ASSIGN_OR_RETURN(const bool scaled,
                   config.BoolOr("scale_attn_weights", true));
  if (!scaled) attention.scale = 1;
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   NumberOr(config, "n_inner", 4 * sizes.hidden, kWidth));
  ASSIGN_OR_RETURN(
      layer.feed_forward.activation,
      ActivationOr(config, "activation_function", "gelu_pytorch_tanh"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.decoder->embedding.positions = Positions::kLearned;
  return spec;
}

absl::Status AddNames(const JsonFile& config, const AttentionSpec& attention,
                      NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"h.{}."});
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"wte.weight"}), {"lm_head.weight"},
              names);
  AddTensor("decoder.embedding.positions", WithPrefixes(model, {"wpe.weight"}),
            names);
  AddWeights("decoder.norm", WithPrefixes(model, {"ln_f"}), Bias::kYes, names);
  static constexpr SlotName kSlots[] = {{"self.norm", "ln_1"},
                                        {"self.out", "attn.c_proj"},
                                        {"ffn.norm", "ln_2"},
                                        {"ffn.in", "mlp.c_fc"},
                                        {"ffn.out", "mlp.c_proj"}};
  AddList("decoder.{}.", layer, kSlots, Bias::kYes, names);
  AddHeadSlices("decoder.{}.", attention, WithPrefixes(layer, {"attn.c_attn"}),
                Bias::kYes, names);
  // The causal mask, which older versions saved.
  AddUnused(layer, {"attn.bias", "attn.masked_bias"}, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGptBigCode(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GptBigCodeSpec(config));
  RETURN_IF_ERROR(AddNames(config,
                           family.spec.decoder->layers.front().self_attention,
                           family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "GPTBigCode", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
