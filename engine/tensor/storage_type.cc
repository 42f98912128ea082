#include "engine/tensor/storage_type.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little);

// The bits of a number. A number is not finite if all bits of kExponent are
// set.
struct F32 {
  using Bits = uint32_t;
  static constexpr Bits kExponent = 0x7f800000;
  static float Value(Bits bits) { return std::bit_cast<float>(bits); }
};

struct Bf16 {
  using Bits = uint16_t;
  static constexpr Bits kExponent = 0x7f80;
  static float Value(Bits bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct F16 {
  using Bits = uint16_t;
  static constexpr Bits kExponent = 0x7c00;
  static float Value(Bits bits) {
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
};

template <typename Type>
typename Type::Bits BitsAt(const uint8_t* src, size_t i) {
  typename Type::Bits bits;
  std::memcpy(&bits, src + i * sizeof(bits), sizeof(bits));
  return bits;
}

template <typename Type>
void Set(const uint8_t* src, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); ++i) {
    dst[i] = Type::Value(BitsAt<Type>(src, i));
  }
}

template <typename Type>
void Add(const uint8_t* src, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); ++i) {
    dst[i] += Type::Value(BitsAt<Type>(src, i));
  }
}

template <typename Type>
bool IsFinite(const uint8_t* src, size_t i) {
  return (BitsAt<Type>(src, i) & Type::kExponent) != Type::kExponent;
}

// Looks at kStep numbers before it branches: files are read at the speed of
// memory.
template <typename Type>
size_t FirstNotFinite(absl::Span<const uint8_t> bytes) {
  constexpr size_t kStep = 4096;
  const size_t count = bytes.size() / sizeof(typename Type::Bits);
  for (size_t begin = 0; begin < count; begin += kStep) {
    const size_t end = std::min(count, begin + kStep);
    bool finite = true;
    for (size_t i = begin; i < end; ++i) {
      finite &= IsFinite<Type>(bytes.data(), i);
    }
    if (finite) continue;
    size_t i = begin;
    while (IsFinite<Type>(bytes.data(), i)) ++i;
    return i;
  }
  return count;
}

}  // namespace

void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst) {
  switch (type) {
    case StorageType::kF32:
      return Set<F32>(src, dst);
    case StorageType::kF16:
      return Set<F16>(src, dst);
    case StorageType::kBf16:
      return Set<Bf16>(src, dst);
  }
}

void AddFloats(StorageType type, const uint8_t* src, absl::Span<float> dst) {
  switch (type) {
    case StorageType::kF32:
      return Add<F32>(src, dst);
    case StorageType::kF16:
      return Add<F16>(src, dst);
    case StorageType::kBf16:
      return Add<Bf16>(src, dst);
  }
}

size_t FindNotFinite(StorageType type, absl::Span<const uint8_t> bytes) {
  switch (type) {
    case StorageType::kF32:
      return FirstNotFinite<F32>(bytes);
    case StorageType::kF16:
      return FirstNotFinite<F16>(bytes);
    case StorageType::kBf16:
      return FirstNotFinite<Bf16>(bytes);
  }
  return 0;
}

}  // namespace attend
