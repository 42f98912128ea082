#ifndef ATTEND_ENGINE_FAMILIES_LAYER_TYPES_H_
#define ATTEND_ENGINE_FAMILIES_LAYER_TYPES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Layers that differ in what they see, as config.json has them since
// transformers 5: layer_types names the type of each, rope_parameters has the
// angles of each type. A family had fields of its own before that; errors as in
// fields.h.

inline constexpr char kFullAttention[] = "full_attention";
inline constexpr char kSlidingAttention[] = "sliding_attention";

// A family's own field, and what it means where it is absent.
template <class T>
struct OlderField {
  absl::string_view key;
  T fallback;
};

// Whether each of so many layers sees all tokens; by the older field, every
// n-th does, from the first on.
absl::StatusOr<std::vector<bool>> FullLayers(const JsonFile& config,
                                             size_t layers,
                                             OlderField<int> every);

// Angles of the layers of a type; by the older field, theta. Scaled ones are an
// error.
absl::StatusOr<RotarySpec> Rotary(const JsonFile& config,
                                  absl::string_view type,
                                  OlderField<float> theta);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_LAYER_TYPES_H_
