#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_

#include "engine/ops/attention/kv_layout.h"

namespace attend {

// A number that is added to a score, by head and by the distance from query to
// key (Raffel et al. 2020, section 2.1). Each head has a row of numbers. Number
// i is for distance i - Edge(); distances beyond max_distance have the number
// of max_distance on their side. So the numbers of a tile of 16 keys lie
// together, at whatever distance the tile begins.
struct DistanceBias {
  // Head h's row begins at values + h * stride; null: no bias.
  const float* values = nullptr;
  int max_distance = 0;  // >= 0
  int stride = 0;        // >= Entries()

  int Edge() const { return max_distance + KvLayout::kBlockTokens - 1; }
  int Entries() const { return 2 * Edge() + 1; }
};

// How a layer computes scores, for all rows of all steps:
//   score = cap(scale * q k^T) + bias(distance) + slope * distance
//   distance = key's position - query's position
// and which keys are too far away to be seen. A layer owns its rules; the
// numbers that they point to must outlive the layer.
struct AttentionRules {
  float scale = 0;
  // cap(x) = softcap * tanh(x / softcap) (Gemma 2, 2024); 0: cap(x) = x.
  float softcap = 0;
  DistanceBias bias = {};
  // Slopes of linear biases (Press et al. 2022), [heads]; null: none.
  const float* slopes = nullptr;
  // A row sees only keys with |distance| <= window, of those that its piece
  // shows; 0: all keys. Blocks without a seen key are not read.
  int window = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_
