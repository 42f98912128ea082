#ifndef ATTEND_ENGINE_TENSOR_HALF_H_
#define ATTEND_ENGINE_TENSOR_HALF_H_

#include <bit>
#include <cstdint>

namespace attend {

// The number that the bits of an f16 stand for, exactly.
inline float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    // Zero or subnormal: fraction * 2^-24, exactly.
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  // An exponent of all ones (infinity, NaN) stays all ones.
  const uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// Whether an f16 is neither infinite nor NaN.
inline bool IsFiniteHalf(uint16_t bits) { return (bits & 0x7c00) != 0x7c00; }

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_HALF_H_
