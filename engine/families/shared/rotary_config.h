#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Frequencies of rotary positions as configurations write them down.

inline constexpr FloatRange kRotaryTheta = {1, 1e12};

// What a model's rotation depends on besides the file.
struct RotaryDefaults {
  double theta = 10000;
  int head_dim = 0;
  double part = 1;  // of a head's numbers, that is rotated
  int max_positions = 0;
  // That it was made for at first, whatever the object says; 0: as that says,
  // else max_positions.
  int original_positions = 0;
};
// Of `rope`, the object that says so ("rope_parameters" since transformers 5,
// "rope_scaling" before), in which "rope_type" (once "type") names the kind:
// default, linear (Chen et al. 2023), dynamic and yarn (Peng et al. 2023),
// longrope (Ding et al. 2024) or llama3 (Grattafiori et al. 2024). What it
// leaves out is as in `defaults`.
//
// As generate() of transformers does it for a fresh model: "dynamic" turns all
// of a prompt by the frequencies of its length, and each token after it by
// those of the length that it brings; "longrope" turns a sequence that has
// become longer than the original length anew, as generate() of Phi-3 does (of
// other families it would go on with keys of two kinds).
absl::StatusOr<RotarySpec> ReadRotary(const JsonFile& rope,
                                      const RotaryDefaults& defaults);

// Of config.json, in either spelling.
absl::StatusOr<RotarySpec> ReadRotaryOf(const JsonFile& config,
                                        RotaryDefaults defaults);

// Positions that a model has: "dynamic" is made for `factor` times those that
// its file says.
absl::StatusOr<int> RotaryPositions(const JsonFile& config,
                                    const RotarySpec& spec, int max_positions);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_
