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

// Vectors of distances that queries and keys are multiplied with ("disentangled
// attention", He et al. 2021): keys for queries, and queries for keys. Each
// head has a matrix of each kind: row d holds component d of the vectors of all
// distances, as `stride` floats, or, for keys in pairs, row d / 2 holds
// components d and d + 1 of each as `stride` pairs of bf16. Column i is for
// distance i - Edge(); distances beyond max_distance are as in DistanceBias.
struct DistanceProducts {
  // The matrices of all heads, one after the other; null: no such product.
  const void* keys = nullptr;
  const void* queries = nullptr;
  int max_distance = 0;  // >= 0
  int stride = 0;        // >= Entries()
  bool paired = false;

  bool any() const { return keys != nullptr || queries != nullptr; }
  int Edge() const { return max_distance + KvLayout::kBlockTokens - 1; }
  int Entries() const { return 2 * Edge() + 1; }
};

// How a layer computes scores, for all rows of all steps:
//   score = cap(scale * (q k^T + q key(distance)^T + k query(distance)^T))
//           + bias(distance) + slope * distance
//   distance = key's position - query's position
// and which keys are too far away to be seen. A layer owns its rules; the
// numbers that they point to must outlive the layer.
struct AttentionRules {
  float scale = 0;
  // cap(x) = softcap * tanh(x / softcap) (Gemma 2, 2024); 0: cap(x) = x.
  float softcap = 0;
  DistanceBias bias = {};
  DistanceProducts distances = {};
  // Slopes of linear biases (Press et al. 2022), [heads]; null: none.
  const float* slopes = nullptr;
  // Slopes are subtracted on both sides: - slope * |distance|.
  bool symmetric = false;
  // A row sees only keys with |distance| <= window, of those that its piece
  // shows; 0: all keys. Blocks without a seen key are not read.
  int window = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_
