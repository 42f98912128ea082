#ifndef ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Models whose layers differ in what they see. Since transformers 5,
// "layer_types" in config.json names the type of each layer, and
// "rope_parameters" has the rotary parameters of each type. Before that each
// family had fields of its own. Errors: see config_fields.h.

inline constexpr char kFullAttention[] = "full_attention";
inline constexpr char kSlidingAttention[] = "sliding_attention";

// For each of `layers` layers, whether it sees all tokens. `older` answers for
// files without "layer_types".
absl::StatusOr<std::vector<bool>> FullLayers(
    const JsonFile& config, int layers,
    absl::FunctionRef<bool(int layer)> older);

// The rotations of the layers of one type: those of rope_parameters; if the
// file has none, the default kind with defaults.theta.
absl::StatusOr<RotarySpec> RotaryOfType(const JsonFile& config,
                                        absl::string_view type,
                                        const RotaryDefaults& defaults);

// Sets the rotations of all layers, by their type: those with a window slide.
// Files of transformers before 5 have "rope_theta" and "rope_scaling" for full
// attention; `sliding` says the other's then.
absl::Status SetRotaryByType(const JsonFile& config, const RotaryDefaults& full,
                             const RotaryDefaults& sliding, StackSpec& decoder);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_
