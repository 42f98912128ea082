#ifndef ATTEND_ENGINE_LAYERS_RELATIVE_BIAS_H_
#define ATTEND_ENGINE_LAYERS_RELATIVE_BIAS_H_

#include "engine/ops/attention/attention_rules.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// How distances from query to key share weights (Raffel et al. 2020, section
// 2.1): one bucket for each of the nearest, then ever wider ones up to
// max_distance, and the last for all beyond. Song et al. 2020 have the
// bidirectional ones.
struct DistanceBuckets {
  // Bidirectional: half of them for keys after the query, and at least 4. Else
  // later keys count as the query's own position, and at least 2.
  int buckets = 0;
  int max_distance = 0;  // > buckets / 2; bidirectional: > buckets / 4
  bool bidirectional = false;

  // The bucket of `distance` = key's position - query's, in [0, buckets).
  int Of(int distance) const;
};

// Attention biases by distance, spread out of their buckets. Const after
// construction.
class RelativeBias {
 public:
  // `weights` is [buckets.buckets, heads]; not needed after the call.
  RelativeBias(ConstMatrix weights, const DistanceBuckets& buckets);

  // Points into this layer.
  DistanceBias bias() const;

 private:
  int max_distance_;
  Buffer<float> values_;  // [heads, DistanceBias::Entries()]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_RELATIVE_BIAS_H_
