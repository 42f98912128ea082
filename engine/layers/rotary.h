#ifndef ATTEND_ENGINE_LAYERS_ROTARY_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_H_

#include "absl/types/span.h"
#include "engine/ops/rotary.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The angles of rotary positions (Su et al. 2021, section 3.2.2): numbers i and
// i + frequencies.size() of a head turn by position * frequencies[i]. Angles
// are rounded to floats, as where checkpoints were trained. Const after
// construction.
class Rotary {
 public:
  // What is turned is multiplied by `magnitude`. frequencies.size() * 2 floats
  // a position.
  Rotary(absl::Span<const float> frequencies, float magnitude,
         int max_positions);

  // Points into this layer.
  RotaryTable table() const {
    return {.cos = cos_.data(),
            .sin = sin_.data(),
            .dims = dims_,
            .max_positions = max_positions_};
  }

 private:
  int dims_;
  int max_positions_;
  Buffer<float> cos_;  // [max_positions, dims / 2]
  Buffer<float> sin_;  // likewise
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_H_
