#include "engine/tensor/quantized_block.h"

#include <cstring>

#include "engine/tensor/check.h"
#include "engine/tensor/half.h"

namespace attend {
namespace {

uint16_t HalfBits(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] | at[1] << 8);
}

float Half(const uint8_t* at) { return HalfToFloat(HalfBits(at)); }

int Signed(uint8_t byte) { return static_cast<int8_t>(byte); }

// Numbers i and i + 16 of a block are the low and high four bits of byte i.
// number(i, bits) is the float of number i.
template <typename Number>
void ForNibbles(const uint8_t* bytes, float* dst, Number number) {
  for (int i = 0; i < 16; ++i) {
    dst[i] = number(i, bytes[i] & 0xf);
    dst[i + 16] = number(i + 16, bytes[i] >> 4);
  }
}

void Dequantize4(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  ForNibbles(block + 2, dst, [&](int, int bits) { return (bits - 8) * scale; });
}

void Dequantize4WithMin(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  const float min = Half(block + 2);
  ForNibbles(block + 4, dst, [&](int, int bits) { return bits * scale + min; });
}

// Bit 4 of number i is bit i of four bytes.
int FifthBit(const uint8_t* high, int i) {
  return (high[i / 8] >> i % 8 & 1) << 4;
}

void Dequantize5(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  ForNibbles(block + 6, dst, [&](int i, int bits) {
    return ((bits | FifthBit(block + 2, i)) - 16) * scale;
  });
}

void Dequantize5WithMin(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  const float min = Half(block + 2);
  ForNibbles(block + 8, dst, [&](int i, int bits) {
    return (bits | FifthBit(block + 4, i)) * scale + min;
  });
}

void Dequantize8(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  for (int i = 0; i < 32; ++i) dst[i] = Signed(block[2 + i]) * scale;
}

// The types with K have blocks of 256 numbers, with a scale of its own for each
// 16 or 32 of them.

// 16 bytes of scales and minimums, 64 bytes of numbers, two f16. Numbers i,
// i + 32, i + 64 and i + 96 of a half are in one byte.
void Dequantize2K(const uint8_t* block, float* dst) {
  const float scale = Half(block + 80);
  const float min = Half(block + 82);
  for (int i = 0; i < 256; ++i) {
    const uint8_t own = block[i / 16];
    const int bits = block[16 + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    dst[i] = scale * (own & 0xf) * bits - min * (own >> 4);
  }
}

// 32 bytes of third bits, 64 bytes of two bits each, 12 bytes of scales, f16.
void Dequantize3K(const uint8_t* block, float* dst) {
  const uint8_t* const scales = block + 96;
  const float scale = Half(block + 108);
  float own[16];
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? scales[i] & 0xf : scales[i - 8] >> 4;
    const int high = scales[8 + i % 4] >> i / 4 * 2 & 3;
    own[i] = scale * ((low | high << 4) - 32);
  }
  for (int i = 0; i < 256; ++i) {
    const int low = block[32 + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    const int high = block[i % 32] >> i / 32 & 1;
    dst[i] = own[i / 16] * (low - (high != 0 ? 0 : 4));
  }
}

struct ScaleAndMin {
  int scale;
  int min;
};

// Scale and minimum `i` of eight, six bits each, in 12 bytes.
ScaleAndMin SixBits(const uint8_t* at, int i) {
  if (i < 4) return {at[i] & 63, at[i + 4] & 63};
  return {(at[i + 4] & 0xf) | at[i - 4] >> 6 << 4,
          at[i + 4] >> 4 | at[i] >> 6 << 4};
}

// Two f16, 12 bytes of scales and minimums, 32 bytes of fifth bits if there are
// any (`high`), 128 bytes of four bits each.
void Dequantize45K(const uint8_t* block, const uint8_t* high,
                   const uint8_t* low, float* dst) {
  const float scale = Half(block);
  const float min = Half(block + 2);
  for (int part = 0; part < 8; ++part) {
    const ScaleAndMin six = SixBits(block + 4, part);
    const float own_scale = scale * six.scale;
    const float own_min = min * six.min;
    for (int i = 0; i < 32; ++i) {
      int bits = low[part / 2 * 32 + i] >> part % 2 * 4 & 0xf;
      if (high != nullptr) bits |= (high[i] >> part & 1) << 4;
      dst[part * 32 + i] = own_scale * bits - own_min;
    }
  }
}

// 128 bytes of four bits each, 64 bytes of two bits each, 16 scales, f16.
void Dequantize6K(const uint8_t* block, float* dst) {
  const float scale = Half(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int part = i % 128 / 32;
    const int at = i % 32;
    const int low = block[half * 64 + part % 2 * 32 + at] >> part / 2 * 4 & 0xf;
    const int high = block[128 + half * 32 + at] >> part * 2 & 3;
    dst[i] = scale * Signed(block[192 + i / 16]) * ((low | high << 4) - 32);
  }
}

// The values of the four bits of IQ4_NL and IQ4_XS: ggml's kvalues_iq4nl.
constexpr int kNonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};

void DequantizeNonLinear4(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  ForNibbles(block + 2, dst,
             [&](int, int bits) { return scale * kNonLinear[bits]; });
}

// f16, the high two bits of eight scales in two bytes, their low four bits in
// four bytes, 128 bytes of four bits each.
void DequantizeNonLinear4Xs(const uint8_t* block, float* dst) {
  const float scale = Half(block);
  const int high = block[2] | block[3] << 8;
  for (int part = 0; part < 8; ++part) {
    const int low = block[4 + part / 2] >> part % 2 * 4 & 0xf;
    const float own = scale * ((low | (high >> part * 2 & 3) << 4) - 32);
    ForNibbles(block + 8 + part * 16, dst + part * 32,
               [&](int, int bits) { return own * kNonLinear[bits]; });
  }
}

}  // namespace

void DequantizeBlock(StorageType type, const uint8_t* block, float* dst) {
  switch (type) {
    case StorageType::kF32:
    case StorageType::kF16:
    case StorageType::kBf16:
      break;
    case StorageType::kQ4_0:
      return Dequantize4(block, dst);
    case StorageType::kQ4_1:
      return Dequantize4WithMin(block, dst);
    case StorageType::kQ5_0:
      return Dequantize5(block, dst);
    case StorageType::kQ5_1:
      return Dequantize5WithMin(block, dst);
    case StorageType::kQ8_0:
      return Dequantize8(block, dst);
    case StorageType::kQ2K:
      return Dequantize2K(block, dst);
    case StorageType::kQ3K:
      return Dequantize3K(block, dst);
    case StorageType::kQ4K:
      return Dequantize45K(block, nullptr, block + 16, dst);
    case StorageType::kQ5K:
      return Dequantize45K(block, block + 16, block + 48, dst);
    case StorageType::kQ6K:
      return Dequantize6K(block, dst);
    case StorageType::kIq4Nl:
      return DequantizeNonLinear4(block, dst);
    case StorageType::kIq4Xs:
      return DequantizeNonLinear4Xs(block, dst);
  }
  ATTEND_CHECK(false);  // a plain number is no block
}

bool HasFiniteScales(StorageType type, const uint8_t* block) {
  const auto finite = [&](int at) {
    return IsFiniteHalf(HalfBits(block + at));
  };
  switch (type) {
    case StorageType::kF32:
    case StorageType::kF16:
    case StorageType::kBf16:
      break;
    case StorageType::kQ4_0:
    case StorageType::kQ5_0:
    case StorageType::kQ8_0:
    case StorageType::kIq4Nl:
    case StorageType::kIq4Xs:
      return finite(0);
    case StorageType::kQ4_1:
    case StorageType::kQ5_1:
    case StorageType::kQ4K:
    case StorageType::kQ5K:
      return finite(0) && finite(2);
    case StorageType::kQ2K:
      return finite(80) && finite(82);
    case StorageType::kQ3K:
      return finite(108);
    case StorageType::kQ6K:
      return finite(208);
  }
  ATTEND_CHECK(false);
  return false;
}

int FourBitGroupsOf(StorageType type) {
  switch (type) {
    case StorageType::kQ4_0:
    case StorageType::kQ4_1:
      return 1;
    case StorageType::kQ4K:
      return 8;
    default:
      return 0;
  }
}

bool ReadFourBits(StorageType type, const uint8_t* block, FourBitGroup* dst) {
  const float scale = Half(block);
  const float min = Half(block + 2);  // for types that have one
  const auto set = [](float own_scale, float own_min, FourBitGroup& group) {
    group.scale = FloatToHalf(own_scale);
    group.min = FloatToHalf(own_min);
    return IsFiniteHalf(group.scale) && IsFiniteHalf(group.min);
  };
  const auto set_codes = [&](const uint8_t* bytes) {
    for (int i = 0; i < 16; ++i) {
      dst->codes[i] = bytes[i] & 0xf;
      dst->codes[i + 16] = bytes[i] >> 4;
    }
  };
  switch (type) {
    case StorageType::kQ4_0:
      set_codes(block + 2);
      return set(scale, -8 * scale, *dst);
    case StorageType::kQ4_1:
      set_codes(block + 4);
      return set(scale, min, *dst);
    case StorageType::kQ4K:
      for (int part = 0; part < 8; ++part) {
        const ScaleAndMin six = SixBits(block + 4, part);
        if (!set(scale * six.scale, -min * six.min, dst[part])) return false;
        for (int i = 0; i < 32; ++i) {
          dst[part].codes[i] =
              block[16 + part / 2 * 32 + i] >> part % 2 * 4 & 0xf;
        }
      }
      return true;
    default:
      ATTEND_CHECK(false);
      return false;
  }
}

}  // namespace attend
