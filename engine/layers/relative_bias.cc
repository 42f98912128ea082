#include "engine/layers/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "engine/tensor/check.h"

namespace attend {

int DistanceBuckets::Of(int distance) const {
  const int side = bidirectional ? buckets / 2 : buckets;
  const int first = bidirectional && distance > 0 ? side : 0;
  const int away = bidirectional ? std::abs(distance) : std::max(-distance, 0);
  const int exact = side / 2;
  if (away < exact) return first + away;
  // In floats, because models were trained with these roundings.
  const float ratio = static_cast<float>(away) / static_cast<float>(exact);
  const float log = static_cast<float>(std::log(static_cast<double>(ratio)));
  const float most =
      static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
  const float wider = log / most * static_cast<float>(side - exact);
  // Bounded first: the number might not fit an int.
  const float bounded = std::min(wider, static_cast<float>(side));
  return first + std::min(exact + static_cast<int>(bounded), side - 1);
}

RelativeBias::RelativeBias(ConstMatrix weights, const DistanceBuckets& buckets)
    : max_distance_(buckets.max_distance) {
  const int side =
      buckets.bidirectional ? buckets.buckets / 2 : buckets.buckets;
  ATTEND_CHECK(weights.rows == buckets.buckets && side >= 2);
  ATTEND_CHECK(buckets.max_distance > side / 2);
  const DistanceBias shape = {.max_distance = max_distance_};
  const int entries = shape.Entries();
  values_ = Buffer<float>(static_cast<size_t>(weights.cols) * entries);
  for (int i = 0; i < entries; ++i) {
    // All distances from max_distance on are in one bucket.
    const float* const row = weights.row(buckets.Of(i - shape.Edge()));
    for (int head = 0; head < weights.cols; ++head) {
      values_[static_cast<size_t>(head) * entries + i] = row[head];
    }
  }
}

DistanceBias RelativeBias::bias() const {
  DistanceBias bias = {.values = values_.data(), .max_distance = max_distance_};
  bias.stride = bias.Entries();
  return bias;
}

}  // namespace attend
