#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_

#include "engine/ops/attention/kv_layout.h"

namespace attend {

// What is added to scores for the distance from query to key (Raffel et al.
// 2020, section 2.1), a row of numbers a head:
//   entry i is for distance i - Edge(), and those beyond max_distance on either
//   side hold the number of max_distance there.
// So those of a tile of 16 keys lie together, wherever it begins.
struct DistanceBias {
  // Head h's row begins at values + h * stride; null: no bias.
  const float* values = nullptr;
  int max_distance = 0;  // >= 0
  int stride = 0;        // >= Entries()

  int Edge() const { return max_distance + KvLayout::kBlockTokens - 1; }
  int Entries() const { return 2 * Edge() + 1; }
};

// How a layer makes scores of queries and keys, and which keys a query does not
// see though its piece would show them: the same for all rows of all steps. A
// layer fills it at load and owns it; the numbers that it points to outlive
// the layer.
struct AttentionRules {
  // A score is q k^T * scale.
  float scale = 0;
  // Soft cap of that (Gemma 2, 2024): it becomes softcap * tanh(it / softcap).
  // 0: none.
  float softcap = 0;
  // Added to that: of head h, entry (key's position - query's).
  DistanceBias bias = {};
  // Linear biases (Press et al. 2022), [heads]: slopes[h] * (key's position -
  // query's) is added, too. Null: none.
  const float* slopes = nullptr;
  // Of the keys that a row sees otherwise it sees those whose position is at
  // most so many away from its own, on either side. 0: all. The others are not
  // read, and neither are their blocks.
  int window = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_RULES_H_
