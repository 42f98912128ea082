#include "engine/layers/rotary.h"

#include <cmath>
#include <cstddef>

#include "engine/tensor/check.h"

namespace attend {

Rotary::Rotary(int head_dim, float theta, int max_positions)
    : head_dim_(head_dim),
      max_positions_(max_positions),
      cos_(static_cast<size_t>(max_positions) * (head_dim / 2)),
      sin_(cos_.size()) {
  ATTEND_CHECK(head_dim > 0 && head_dim % 2 == 0 && theta > 0);
  const int half = head_dim / 2;
  for (int i = 0; i < half; ++i) {
    const float exponent =
        static_cast<float>(2 * i) / static_cast<float>(head_dim);
    // Each step rounded to float once, as a good float library does.
    const float power = static_cast<float>(
        std::pow(static_cast<double>(theta), static_cast<double>(exponent)));
    const float frequency = 1.0f / power;
    for (int position = 0; position < max_positions; ++position) {
      const float angle = static_cast<float>(position) * frequency;
      const size_t at = static_cast<size_t>(position) * half + i;
      cos_[at] = static_cast<float>(std::cos(static_cast<double>(angle)));
      sin_[at] = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  }
}

}  // namespace attend
