// GPT-J: Wang & Komatsuzaki 2021; CodeGen: Nijkamp et al. 2022.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/layers/rotary_spec.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

const std::vector<std::string>& ModelPrefixes() {
  static const auto& prefixes =
      *new std::vector<std::string>{"transformer.", ""};
  return prefixes;
}

std::vector<std::string> LayerPrefixes() {
  return WithPrefixes(ModelPrefixes(), {"h.{}."});
}

absl::StatusOr<RotarySpec> Rotary(const JsonFile& config, int head_dim) {
  constexpr char kKey[] = "rotary_dim";
  if (config.IsNull(kKey)) return config.Unexpected(kKey, "a number");
  ASSIGN_OR_RETURN(const int dims, NumberOr(config, kKey, 64, {2, head_dim}));
  if (dims % 2 != 0) return config.Unexpected(kKey, "an even number");
  return RotarySpec{RotaryFrequencies(10000, dims)};
}

absl::StatusOr<TransformerSpec> GptJSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.hidden = "n_embd",
                                             .heads = "n_head",
                                             .layers = "n_layer",
                                             .positions = "n_positions"}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  layer.parallel = true;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, "n_head", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.self_attention.rotary,
                   Rotary(config, layer.self_attention.head_dim));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   NumberOr(config, "n_inner", 4 * sizes.hidden, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "gelu_new"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.logits_bias = true;
  return spec;
}

// Adds all names but those of queries, keys and values. Both branches of a
// layer read one norm.
absl::Status AddNames(const JsonFile& config, NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied,
                   config.BoolOr("tie_word_embeddings", false));
  AddInAndOut(tied, WithPrefixes(ModelPrefixes(), {"wte.weight"}),
              {"lm_head.weight"}, names);
  AddTensor("logits.bias", {"lm_head.bias"}, names);
  AddWeights("decoder.norm", WithPrefixes(ModelPrefixes(), {"ln_f"}),
             Bias::kYes, names);
  static constexpr SlotName kBiased[] = {{"self.norm", "ln_1"},
                                         {"ffn.norm", "ln_1"},
                                         {"ffn.in", "mlp.fc_in"},
                                         {"ffn.out", "mlp.fc_out"}};
  AddList("decoder.{}.", LayerPrefixes(), kBiased, Bias::kYes, names);
  AddList("decoder.{}.", LayerPrefixes(), {{"self.out", "attn.out_proj"}},
          Bias::kNo, names);
  // Masks that older versions saved.
  AddUnused(LayerPrefixes(),
            {"attn.bias", "attn.masked_bias", "attn.causal_mask"}, names);
  return absl::OkStatus();
}

absl::StatusOr<Family> GptJFamily(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GptJSpec(config));
  RETURN_IF_ERROR(AddNames(config, family.names));
  return family;
}

// CodeGen's matrix is cut for four machines: each has queries, values and keys
// of a quarter of the heads.
absl::Status AddCodeGenQkv(const JsonFile& config,
                           const AttentionSpec& attention, NameTable& names) {
  constexpr int kMachines = 4;
  if (attention.heads % kMachines != 0) {
    return config.Unexpected("n_head", "a multiple of 4");
  }
  static constexpr const char* kSlots[] = {"self.q", "self.v", "self.k"};
  const size_t first = names.rows.size();
  AddSlices("decoder.{}.", kSlots,
            WithPrefixes(LayerPrefixes(), {"attn.qkv_proj"}), Bias::kNo, names);
  for (size_t row = first; row < names.rows.size(); ++row) {
    names.rows[row].slices.groups = kMachines;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGptJ(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, GptJFamily(config));
  static constexpr SlotName kQkv[] = {{"self.q", "attn.q_proj"},
                                      {"self.k", "attn.k_proj"},
                                      {"self.v", "attn.v_proj"}};
  AddList("decoder.{}.", LayerPrefixes(), kQkv, Bias::kNo, family.names);
  InterleaveRotated(family);
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "GPTJ", .token_layer = "", .both_ways = false}, family));
  return family;
}

absl::StatusOr<Family> LoadCodeGen(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, GptJFamily(config));
  RETURN_IF_ERROR(
      AddCodeGenQkv(config, family.spec.decoder->layers.front().self_attention,
                    family.names));
  InterleaveRotated(family);
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "CodeGen", .token_layer = "", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
