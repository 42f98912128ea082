#ifndef ATTEND_ENGINE_LAYERS_RELATIVE_BIAS_H_
#define ATTEND_ENGINE_LAYERS_RELATIVE_BIAS_H_

#include "engine/ops/attention/attention_rules.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Which distances from query to key share a weight (Raffel et al. 2020, section
// 2.1). Each of the nearest distances has a bucket of its own; then buckets
// become wider and wider, up to max_distance; the last bucket is for all
// greater distances.
struct DistanceBuckets {
  // Bidirectional: at least 4; the upper half is for keys after the query (Song
  // et al. 2020). Else: at least 2; keys after the query have distance 0.
  int buckets = 0;
  int max_distance = 0;  // > buckets / 2; bidirectional: > buckets / 4
  bool bidirectional = false;

  // The bucket of `distance` = key's position - query's, in [0, buckets).
  int Of(int distance) const;
};

// The attention bias of every distance, from the weights of the buckets. Const
// after construction.
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
