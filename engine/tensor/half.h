#ifndef ATTEND_ENGINE_TENSOR_HALF_H_
#define ATTEND_ENGINE_TENSOR_HALF_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace attend {

// Converts the bits of an f16 to the same value, exactly.
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

// Rounds a finite value to the nearest f16, ties to even; infinity beyond the
// largest.
inline uint16_t FloatToHalf(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal: a multiple of 2^-24.
    const float multiples = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<uint16_t>(sign | std::lrint(multiples));
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000) >> 13);
}

// Returns true if an f16 is neither infinite nor NaN.
inline bool IsFiniteHalf(uint16_t bits) { return (bits & 0x7c00) != 0x7c00; }

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_HALF_H_
