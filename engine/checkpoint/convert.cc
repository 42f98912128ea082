#include "engine/checkpoint/convert.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little);

uint16_t Load16(const uint8_t* src) {
  uint16_t bits;
  std::memcpy(&bits, src, sizeof(bits));
  return bits;
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    // Zero or subnormal: fraction * 2^-24, exactly.
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  // An exponent of all ones (infinity, NaN) stays all ones.
  const uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace

void F32ToF32(const uint8_t* src, absl::Span<float> dst) {
  if (!dst.empty()) std::memcpy(dst.data(), src, dst.size() * sizeof(float));
}

void F16ToF32(const uint8_t* src, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); ++i) {
    dst[i] = HalfToFloat(Load16(src + 2 * i));
  }
}

void Bf16ToF32(const uint8_t* src, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); ++i) {
    dst[i] =
        std::bit_cast<float>(static_cast<uint32_t>(Load16(src + 2 * i)) << 16);
  }
}

}  // namespace attend
