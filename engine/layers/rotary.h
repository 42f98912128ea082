#ifndef ATTEND_ENGINE_LAYERS_ROTARY_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_H_

#include "engine/ops/rotary.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The angles of rotary positions (Su et al. 2021, section 3.2.2): number i of a
// head turns by position / theta^(2i / head_dim). Rounded as checkpoints were
// trained: frequencies and angles are floats. Const after construction.
class Rotary {
 public:
  // `head_dim` is even; theta > 0. head_dim floats a position.
  Rotary(int head_dim, float theta, int max_positions);

  // Points into this layer.
  RotaryTable table() const {
    return {.cos = cos_.data(),
            .sin = sin_.data(),
            .head_dim = head_dim_,
            .max_positions = max_positions_};
  }

 private:
  int head_dim_;
  int max_positions_;
  Buffer<float> cos_;  // [max_positions, head_dim / 2]
  Buffer<float> sin_;  // likewise
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_H_
