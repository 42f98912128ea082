// GPT-Neo: Black et al. 2021.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/string_lists.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// For each layer, whether it sees a window of tokens alone.
absl::StatusOr<std::vector<bool>> LocalLayers(const JsonFile& config,
                                              int layers) {
  constexpr char kTypes[] = "attention_types";
  constexpr char kNamed[] = "attention_layers";
  const size_t count = static_cast<size_t>(layers);
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   RepeatedStrings(config, kTypes, count));
  // Files have the same twice.
  if (config.Has(kNamed)) {
    ASSIGN_OR_RETURN(const auto layers_named, config.Strings(kNamed));
    if (layers_named != names) {
      return config.Unexpected(kNamed, absl::StrCat("that of ", kTypes));
    }
  }
  std::vector<bool> local;
  bool known = names.size() == count;
  for (const std::string& name : names) {
    known = known && (name == "local" || name == "global");
    local.push_back(name == "local");
  }
  if (known) return local;
  return config.Unexpected(
      kTypes, absl::StrCat("\"global\" or \"local\" for ", layers, " layers"));
}

absl::Status SetLayers(const JsonFile& config, StackSpec& decoder) {
  ASSIGN_OR_RETURN(
      const std::vector<bool> local,
      LocalLayers(config, static_cast<int>(decoder.layers.size())));
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "window_size", 256, {2, kWindow.max}));
  for (size_t i = 0; i < local.size(); ++i) {
    AttentionSpec& attention = decoder.layers[i].self_attention;
    attention.scale = 1;
    // window_size counts the token itself.
    if (local[i]) attention.window = window - 1;
  }
  return absl::OkStatus();
}

absl::StatusOr<TransformerSpec> GptNeoSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(
      const DecoderSizes sizes,
      ReadDecoderSizes(config, {.heads = "num_heads", .layers = "num_layers"}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_heads", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(
      layer.feed_forward.width,
      NumberOr(config, "intermediate_size", 4 * sizes.hidden, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "gelu_new"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.decoder->embedding.positions = Positions::kLearned;
  RETURN_IF_ERROR(SetLayers(config, *spec.decoder));
  return spec;
}

absl::Status AddNames(const JsonFile& config, NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"h.{}."});
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"wte.weight"}), {"lm_head.weight"},
              names);
  AddTensor("decoder.embedding.positions", WithPrefixes(model, {"wpe.weight"}),
            names);
  AddWeights("decoder.norm", WithPrefixes(model, {"ln_f"}), Bias::kYes, names);
  static constexpr SlotName kQkv[] = {{"self.q", "attn.attention.q_proj"},
                                      {"self.k", "attn.attention.k_proj"},
                                      {"self.v", "attn.attention.v_proj"}};
  AddList("decoder.{}.", layer, kQkv, Bias::kNo, names);
  static constexpr SlotName kBiased[] = {
      {"self.norm", "ln_1"},
      {"self.out", "attn.attention.out_proj"},
      {"ffn.norm", "ln_2"},
      {"ffn.in", "mlp.c_fc"},
      {"ffn.out", "mlp.c_proj"}};
  AddList("decoder.{}.", layer, kBiased, Bias::kYes, names);
  // Masks that older versions saved.
  AddUnused(layer, {"attn.attention.bias", "attn.attention.masked_bias"},
            names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGptNeo(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, GptNeoSpec(config));
  RETURN_IF_ERROR(AddNames(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "GPTNeo", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
