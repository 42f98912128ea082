#ifndef ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Layers that differ in what they see, as config.json has them since
// transformers 5: layer_types names the type of each, rope_parameters has the
// angles of each type. A family had fields of its own before that; errors as in
// fields.h.

inline constexpr char kFullAttention[] = "full_attention";
inline constexpr char kSlidingAttention[] = "sliding_attention";

// Whether each of so many layers sees all tokens; `older` says it for files
// that do not.
absl::StatusOr<std::vector<bool>> FullLayers(
    const JsonFile& config, int layers,
    absl::FunctionRef<bool(int layer)> older);

// Angles of the layers of a type: of rope_parameters, else plain ones of
// defaults.theta.
absl::StatusOr<RotarySpec> RotaryOfType(const JsonFile& config,
                                        absl::string_view type,
                                        const RotaryDefaults& defaults);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_LAYER_TYPES_H_
