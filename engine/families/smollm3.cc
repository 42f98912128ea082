// SmolLM3: Bakouch et al. 2025.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kSmolLm3Defaults = {
    .kv_heads = 4, .theta = 2e6, .tied = true};

// For each layer, whether it has rotary positions: "no_rope_layers", which says
// 1 where a layer has them; if the file has none, each "no_rope_layer_interval"
// is one without.
absl::StatusOr<std::vector<int>> HasRotary(const JsonFile& config, int layers) {
  if (config.Has("no_rope_layers")) {
    ASSIGN_OR_RETURN(std::vector<int> has,
                     config.Ints("no_rope_layers", {0, 1}));
    if (static_cast<int>(has.size()) == layers) return has;
    return config.Unexpected("no_rope_layers",
                             absl::StrCat(layers, " times 0 or 1"));
  }
  ASSIGN_OR_RETURN(const int interval,
                   NumberOr(config, "no_rope_layer_interval", 4, kLayers));
  std::vector<int> has(layers);
  for (int i = 0; i < layers; ++i) has[i] = (i + 1) % interval != 0;
  return has;
}

// Only layers without rotary positions slide, unless "layer_types" says more.
absl::Status SetWindowsAndRotary(const JsonFile& config, StackSpec& decoder) {
  ASSIGN_OR_RETURN(const std::vector<int> has_rotary,
                   HasRotary(config, static_cast<int>(decoder.layers.size())));
  ASSIGN_OR_RETURN(const bool use, config.BoolOr("use_sliding_window", false));
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 0, {0, kWindow.max}));
  RETURN_IF_ERROR(SetWindows(
      config, window,
      [&](int layer) { return use && window > 0 && !has_rotary[layer]; },
      decoder));
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    if (!has_rotary[i]) decoder.layers[i].self_attention.rotary.reset();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadSmolLm3(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kSmolLm3Defaults));
  RETURN_IF_ERROR(SetWindowsAndRotary(config, *family.spec.decoder));
  RETURN_IF_ERROR(AddLlamaTable(config, kSmolLm3Defaults, family.names));
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  ASSIGN_OR_RETURN(const Bias feed_forward, BiasFlag(config, "mlp_bias"));
  AddLlamaQkv(attention, family.names);
  AddLlamaOut(attention, family.names);
  AddLlamaFeedForward(feed_forward, family.names);
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "SmolLM3", .padding_id = 128004}, family));
  return family;
}

}  // namespace attend
