#include "engine/layers/distance_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attend {
namespace {

float Log(float x) {
  return static_cast<float>(std::log(static_cast<double>(x)));
}

}  // namespace

int DistanceRows::Of(int distance) const {
  const int away = std::abs(distance);
  int bucket = away;
  if (const int exact = side / 2; max_distance > 0 && away > exact) {
    // In floats, because models were trained with these roundings.
    const float far = static_cast<float>(away) / static_cast<float>(exact);
    const float farthest = static_cast<float>(
        static_cast<double>(max_distance - 1) / static_cast<double>(exact));
    const float wider =
        std::ceil(Log(far) / Log(farthest) * static_cast<float>(exact - 1));
    // Bounded first: the number might not fit an int.
    bucket =
        static_cast<int>(std::min(wider, static_cast<float>(2 * side))) + exact;
  }
  bucket = std::min(bucket, 2 * side);
  return std::clamp(distance > 0 ? side - bucket : side + bucket, 0,
                    2 * side - 1);
}

std::vector<int> DistanceRows::Table(int limit) const {
  int last = limit;
  while (last > 0 && Of(last - 1) == Of(limit) && Of(1 - last) == Of(-limit)) {
    --last;
  }
  std::vector<int> rows;
  rows.reserve(2 * last + 1);
  for (int distance = -last; distance <= last; ++distance) {
    rows.push_back(Of(distance));
  }
  return rows;
}

}  // namespace attend
