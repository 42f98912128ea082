#include "engine/layers/rotary.h"

#include <cmath>
#include <cstddef>

#include "engine/tensor/check.h"

namespace attend {

Rotary::Rotary(absl::Span<const float> frequencies, float magnitude,
               int max_positions)
    : dims_(2 * static_cast<int>(frequencies.size())),
      max_positions_(max_positions),
      cos_(static_cast<size_t>(max_positions) * frequencies.size()),
      sin_(cos_.size()) {
  ATTEND_CHECK(!frequencies.empty());
  size_t at = 0;
  for (int position = 0; position < max_positions; ++position) {
    for (const float frequency : frequencies) {
      // Each step rounded to float once, as a good float library does.
      const float angle = static_cast<float>(position) * frequency;
      cos_[at] =
          static_cast<float>(std::cos(static_cast<double>(angle))) * magnitude;
      sin_[at] =
          static_cast<float>(std::sin(static_cast<double>(angle))) * magnitude;
      ++at;
    }
  }
}

}  // namespace attend
