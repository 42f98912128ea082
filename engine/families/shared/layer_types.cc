#include "engine/families/shared/layer_types.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<std::vector<bool>> FullLayers(
    const JsonFile& config, int layers,
    absl::FunctionRef<bool(int layer)> older) {
  std::vector<bool> full(layers);
  if (!config.Has("layer_types")) {
    for (int i = 0; i < layers; ++i) full[i] = older(i);
    return full;
  }
  ASSIGN_OR_RETURN(const auto types, config.Strings("layer_types"));
  bool known = static_cast<int>(types.size()) == layers;
  for (int i = 0; known && i < layers; ++i) {
    full[i] = types[i] == kFullAttention;
    known = full[i] || types[i] == kSlidingAttention;
  }
  if (known) return full;
  return config.Unexpected(
      "layer_types", absl::StrCat(layers, " times ", kFullAttention, " or ",
                                  kSlidingAttention));
}

absl::StatusOr<RotarySpec> RotaryOfType(const JsonFile& config,
                                        absl::string_view type,
                                        const RotaryDefaults& defaults) {
  if (config.Has("rope_parameters")) {
    ASSIGN_OR_RETURN(const JsonFile all, config.Object("rope_parameters"));
    if (all.Has(type)) {
      ASSIGN_OR_RETURN(const JsonFile rope, all.Object(type));
      return ReadRotary(rope, defaults);
    }
  }
  return RotarySpec{
      RotaryFrequencies(static_cast<float>(defaults.theta), defaults.head_dim)};
}

absl::Status SetRotaryByType(const JsonFile& config, const RotaryDefaults& full,
                             const RotaryDefaults& sliding,
                             StackSpec& decoder) {
  for (LayerSpec& layer : decoder.layers) {
    const bool slides = layer.self_attention.window > 0;
    ASSIGN_OR_RETURN(layer.self_attention.rotary,
                     slides ? RotaryOfType(config, kSlidingAttention, sliding)
                     : config.Has("rope_parameters")
                         ? RotaryOfType(config, kFullAttention, full)
                         : ReadRotaryOf(config, full));
  }
  return absl::OkStatus();
}

}  // namespace attend
