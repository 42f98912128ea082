#ifndef ATTEND_ENGINE_FAMILIES_ROTARY_H_
#define ATTEND_ENGINE_FAMILIES_ROTARY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Frequencies of rotary positions as configurations write them down.

// 1 / theta^(2i / dims) (Su et al. 2021, section 3.2.2), each step rounded to
// float as where checkpoints were trained. `dims` is even.
std::vector<float> RotaryFrequencies(float theta, int dims);

inline constexpr FloatRange kRotaryTheta = {1, 1e12};

// What a model's rotation depends on besides the file.
struct RotaryDefaults {
  double theta = 10000;
  int head_dim = 0;
  double part = 1;  // of a head's numbers, that is rotated
  int max_positions = 0;
};
// Of `rope`, the object that says so ("rope_parameters" since transformers 5,
// "rope_scaling" before), in which "rope_type" (once "type") names the kind:
// default, linear (Chen et al. 2023), yarn (Peng et al. 2023) or llama3
// (Grattafiori et al. 2024). What it leaves out is as in `defaults`.
absl::StatusOr<RotarySpec> ReadRotary(const JsonFile& rope,
                                      const RotaryDefaults& defaults);

// Of config.json, in either spelling.
absl::StatusOr<RotarySpec> ReadRotaryOf(const JsonFile& config,
                                        RotaryDefaults defaults);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_ROTARY_H_
