#ifndef ATTEND_ENGINE_TENSOR_FINITE_H_
#define ATTEND_ENGINE_TENSOR_FINITE_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// Whether no number is infinite or NaN. By the bits, as compilers turn a
// largest integer, but no sum of floats, into vector instructions.
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
