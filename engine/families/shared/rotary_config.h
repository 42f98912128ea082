#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Reads the frequencies of rotary positions from configurations.

inline constexpr FloatRange kRotaryTheta = {1, 1e12};

// Defaults of a rotation, for fields that the object lacks.
struct RotaryDefaults {
  double theta = 10000;
  int head_dim = 0;
  double fraction = 1;  // rotated share of a head
  int max_positions = 0;
  // The positions that the model was first trained for. This value wins over
  // the object's. 0: the object's value, or max_positions if that has none.
  int original_positions = 0;
  // The model reads partial_rotary_factor. Models of transformers that do not
  // read it rotate whole heads, whatever the file says.
  bool partial = false;
  bool recomputes = false;  // see RotarySpec
};
// The rotation that `rope` describes: the object "rope_parameters" (since
// transformers 5) or "rope_scaling" (before). Its "rope_type" (before: "type")
// names the kind:
//
//   default   also "mrope" (Wang et al. 2024), for texts
//   linear    Chen et al. 2023
//   dynamic   Peng et al. 2023. Prompt tokens use the frequencies of the
//             prompt's length; each generated token uses those of the length so
//             far.
//   yarn      Peng et al. 2023
//   longrope  Ding et al. 2024. All tokens of a prompt above the original
//             length use the long frequencies. A sequence that grows beyond it
//             is computed again, as generate() does for Phi-3, if
//             RotaryDefaults::recomputes; otherwise its later tokens alone use
//             them.
//   llama3    Grattafiori et al. 2024
//
// Fields that are absent come from `defaults`. The results are those of
// generate() on a freshly loaded model.
absl::StatusOr<RotarySpec> ReadRotary(const JsonFile& rope,
                                      const RotaryDefaults& defaults);

// The rotation of config.json, in either spelling.
absl::StatusOr<RotarySpec> ReadRotaryOf(const JsonFile& config,
                                        RotaryDefaults defaults);

// Grattafiori et al. 2024. Frequencies whose wavelength is above
// original / low_freq_factor are divided by `factor`; those whose wavelength is
// below original / high_freq_factor stay; between them it is interpolated.
struct Llama3Scaling {
  double factor = 1;
  double low_freq_factor = 1;
  double high_freq_factor = 4;  // higher than low_freq_factor
  int original_positions = 0;
};
void ScaleLlama3(const Llama3Scaling& scaling, std::vector<float>& frequencies);

// The number of positions of a model: with "dynamic", `factor` times those that
// the file says.
absl::StatusOr<int> RotaryPositions(const JsonFile& config,
                                    const RotarySpec& spec, int max_positions);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ROTARY_CONFIG_H_
