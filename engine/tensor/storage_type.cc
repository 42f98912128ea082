#include "engine/tensor/storage_type.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/tensor/half.h"
#include "engine/tensor/quantized_block.h"

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
  static float Value(Bits bits) { return HalfToFloat(bits); }
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

// The same for blocks, whose scales alone can be infinite or NaN.
size_t FirstNotFiniteBlock(StorageType type, absl::Span<const uint8_t> bytes) {
  const StorageBlock block = BlockOf(type);
  size_t number = 0;
  for (size_t at = 0; at < bytes.size(); at += block.bytes) {
    if (!HasFiniteScales(type, bytes.data() + at)) break;
    number += block.numbers;
  }
  return number;
}

}  // namespace

StorageBlock BlockOf(StorageType type) {
  switch (type) {
    case StorageType::kF32:
      return {"F32", 1, 4};
    case StorageType::kF16:
      return {"F16", 1, 2};
    case StorageType::kBf16:
      return {"BF16", 1, 2};
    case StorageType::kQ4_0:
      return {"Q4_0", 32, 18};
    case StorageType::kQ4_1:
      return {"Q4_1", 32, 20};
    case StorageType::kQ5_0:
      return {"Q5_0", 32, 22};
    case StorageType::kQ5_1:
      return {"Q5_1", 32, 24};
    case StorageType::kQ8_0:
      return {"Q8_0", 32, 34};
    case StorageType::kQ2K:
      return {"Q2_K", 256, 84};
    case StorageType::kQ3K:
      return {"Q3_K", 256, 110};
    case StorageType::kQ4K:
      return {"Q4_K", 256, 144};
    case StorageType::kQ5K:
      return {"Q5_K", 256, 176};
    case StorageType::kQ6K:
      return {"Q6_K", 256, 210};
    case StorageType::kIq4Nl:
      return {"IQ4_NL", 32, 18};
    case StorageType::kIq4Xs:
      return {"IQ4_XS", 256, 136};
  }
  return {"", 1, 1};
}

void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst) {
  switch (type) {
    case StorageType::kF32:
      return Set<F32>(src, dst);
    case StorageType::kF16:
      return Set<F16>(src, dst);
    case StorageType::kBf16:
      return Set<Bf16>(src, dst);
    default:
      break;
  }
  const StorageBlock block = BlockOf(type);
  for (size_t at = 0; at < dst.size(); at += block.numbers) {
    DequantizeBlock(type, src, dst.data() + at);
    src += block.bytes;
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
    default:
      break;
  }
  const StorageBlock block = BlockOf(type);
  float numbers[kMaxBlockNumbers];
  for (size_t at = 0; at < dst.size(); at += block.numbers) {
    DequantizeBlock(type, src, numbers);
    for (int i = 0; i < block.numbers; ++i) dst[at + i] += numbers[i];
    src += block.bytes;
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
    default:
      return FirstNotFiniteBlock(type, bytes);
  }
}

}  // namespace attend
