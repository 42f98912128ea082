// GPT-2: Radford et al. 2019.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> Gpt2Spec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.hidden = "n_embd",
                                             .heads = "n_head",
                                             .layers = "n_layer",
                                             .positions = "n_positions"}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, "n_head", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   NumberOr(config, "n_inner", 4 * sizes.hidden, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "gelu_new"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.decoder->embedding.positions = Positions::kLearned;
  return spec;
}

// Adds weights that the checkpoint stores as [in, out].
void AddTransposed(const std::string& slot,
                   const std::vector<std::string>& tensors, NameTable& names) {
  const size_t first = names.rows.size();
  AddWeights(slot, tensors, Bias::kYes, names);
  names.rows[first].slices.transposed = true;
}

void AddGpt2Names(NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"h.{}."});
  AddInAndOut(/*tied=*/true, WithPrefixes(model, {"wte.weight"}),
              {"lm_head.weight"}, names);
  AddTensor("decoder.embedding.positions", WithPrefixes(model, {"wpe.weight"}),
            names);
  AddWeights("decoder.norm", WithPrefixes(model, {"ln_f"}), Bias::kYes, names);
  static constexpr SlotName kNorms[] = {{"self.norm", "ln_1"},
                                        {"ffn.norm", "ln_2"}};
  AddList("decoder.{}.", layer, kNorms, Bias::kYes, names);
  const size_t qkv = names.rows.size();
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("decoder.{}.", kQkv, WithPrefixes(layer, {"attn.c_attn"}),
            Bias::kYes, names);
  for (size_t i = qkv; i < names.rows.size(); ++i) {
    names.rows[i].slices.transposed = true;
  }
  AddTransposed("decoder.{}.self.out", WithPrefixes(layer, {"attn.c_proj"}),
                names);
  AddTransposed("decoder.{}.ffn.in", WithPrefixes(layer, {"mlp.c_fc"}), names);
  AddTransposed("decoder.{}.ffn.out", WithPrefixes(layer, {"mlp.c_proj"}),
                names);
  // The causal mask, which older versions saved.
  AddUnused(layer, {"attn.bias", "attn.masked_bias"}, names);
}

}  // namespace

absl::StatusOr<Family> LoadGpt2(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(config, {"scale_attn_weights"}, true));
  RETURN_IF_ERROR(
      ExpectFlags(config, {"scale_attn_by_inverse_layer_idx"}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, Gpt2Spec(config));
  AddGpt2Names(family.names);
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "GPT2",
                                .generates = "LMHeadModel",
                                .token_layer = "classifier",
                                .both_ways = false},
                               family));
  return family;
}

}  // namespace attend
