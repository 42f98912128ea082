#include "engine/families/layer_types.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/families/fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<std::vector<bool>> FullLayers(const JsonFile& config,
                                             size_t layers,
                                             OlderField<int> every) {
  std::vector<bool> full(layers);
  if (!config.Has("layer_types")) {
    ASSIGN_OR_RETURN(const int n, NumberOr(config, every.key, every.fallback,
                                           {1, kLayers.max}));
    for (size_t i = 0; i < layers; ++i) full[i] = i % n == 0;
    return full;
  }
  ASSIGN_OR_RETURN(const auto types, config.Strings("layer_types"));
  bool known = types.size() == layers;
  for (size_t i = 0; known && i < layers; ++i) {
    full[i] = types[i] == kFullAttention;
    known = full[i] || types[i] == kSlidingAttention;
  }
  if (known) return full;
  return config.Unexpected(
      "layer_types", absl::StrCat(layers, " times ", kFullAttention, " or ",
                                  kSlidingAttention));
}

absl::StatusOr<RotarySpec> Rotary(const JsonFile& config,
                                  absl::string_view type,
                                  OlderField<float> theta) {
  constexpr FloatRange kTheta = {1, 1e12};
  RETURN_IF_ERROR(config.ExpectNeutral("rope_scaling", 0));
  ASSIGN_OR_RETURN(double value,
                   config.FloatOr(theta.key, theta.fallback, kTheta));
  if (config.Has("rope_parameters")) {
    ASSIGN_OR_RETURN(const JsonFile all, config.Object("rope_parameters"));
    if (all.Has(type)) {
      ASSIGN_OR_RETURN(const JsonFile rope, all.Object(type));
      ASSIGN_OR_RETURN(value, rope.FloatOr("rope_theta", value, kTheta));
      ASSIGN_OR_RETURN(const std::string kind,
                       rope.StringOr("rope_type", "default"));
      if (kind != "default") return rope.Unexpected("rope_type", "default");
    }
  }
  return RotarySpec{.theta = static_cast<float>(value)};
}

}  // namespace attend
