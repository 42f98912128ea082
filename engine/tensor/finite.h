#ifndef ATTEND_ENGINE_TENSOR_FINITE_H_
#define ATTEND_ENGINE_TENSOR_FINITE_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// Returns true if no value is infinite or NaN. Compares bits, because compilers
// vectorise an integer maximum, but not a sum of floats.
inline bool AllFinite(absl::Span<const float> numbers) {
  constexpr int32_t kMagnitude = 0x7fffffff;
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t largest = 0;
  for (const float number : numbers) {
    largest = std::max(largest, std::bit_cast<int32_t>(number) & kMagnitude);
  }
  return largest < kInfinity;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_FINITE_H_
