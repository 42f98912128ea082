#include "engine/ops/matmul/group_kernel.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/ops/exec/number_group.h"
#include "engine/ops/matmul/biased_sum.h"
#include "engine/ops/simd/amx_tiles.h"
#include "engine/ops/simd/simd.h"
#include "engine/tensor/half.h"

// Each instruction set says how many rows and vectors of columns are multiplied
// at once, what the sum of a group's products is, and how f16 are read.

ATTEND_AVX2_BEGIN
namespace groups {
constexpr int kRowsAtOnce = 2;
constexpr int kVectorsAtOnce = 4;
using Codes = __m256i;
inline Codes LoadCodes(const char* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline void StoreCodes(char* p, Codes codes) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(p), codes);
}
inline Codes BroadcastCodes(int four) { return _mm256_set1_epi32(four); }
inline Codes LowHalves(Codes codes) {
  return _mm256_and_si256(codes, _mm256_set1_epi8(0xf));
}
inline Codes HighHalves(Codes codes) {
  return LowHalves(_mm256_srli_epi16(codes, 4));
}
inline Codes EvenBytes(Codes codes) {
  return _mm256_and_si256(codes, _mm256_set1_epi16(0xff));
}
inline Codes OddBytes(Codes codes) { return _mm256_srli_epi16(codes, 8); }
inline Codes Less128(Codes words) {
  return _mm256_sub_epi16(words, _mm256_set1_epi16(128));
}
inline Vec ToFloats(Codes sum, int more) {
  return _mm256_cvtepi32_ps(_mm256_add_epi32(sum, BroadcastCodes(more)));
}
// Sums in the order of the source, each in its register. g++ would load what is
// multiplied by all of them first, and run out of registers.
inline void Keep(Codes& sum) { asm("" : "+x"(sum)); }
template <int kBits>
struct GroupSum {
  GroupSum() {}  // has the target of its place, as an implicit one has not
  Codes sum = _mm256_setzero_si256();
  void Add(Codes weights, Codes x) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(weights, x));
    Keep(sum);
  }
  Vec Scaled(int more, Vec scale) const {
    return Mul(ToFloats(sum, more), scale);
  }
};
// Sums of 16 products of 4 bits and 8 bits stay below 2^15.
template <>
struct GroupSum<4> {
  GroupSum() {}
  Codes words = _mm256_setzero_si256();
  void Add(Codes weights, Codes x) {
    words = _mm256_add_epi16(words, _mm256_maddubs_epi16(weights, x));
    Keep(words);
  }
  Vec Scaled(int more, Vec scale) const {
    const Codes sum = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
    return Mul(ToFloats(sum, more), scale);
  }
};
// Of finite numbers: exponents of f16 begin 112 lower.
inline Vec LoadHalfs(const uint16_t* p) {
  const Codes bits = _mm256_cvtepu16_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const Codes magnitude =
      _mm256_slli_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fff)), 13);
  const Codes sign =
      _mm256_slli_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x8000)), 16);
  return _mm256_or_ps(Mul(_mm256_castsi256_ps(magnitude), Broadcast(0x1p112f)),
                      _mm256_castsi256_ps(sign));
}
#include "engine/ops/matmul/group_kernel.inc"
constexpr int kRowsWorthUnpacking = 3;
constexpr int kUnpackedVectors = 2;
#include "engine/ops/matmul/group_unpacked.inc"
}  // namespace groups
ATTEND_AVX2_END

ATTEND_AVX512_VNNI_BEGIN
namespace groups {
constexpr int kRowsAtOnce = 6;
constexpr int kVectorsAtOnce = 4;
using Codes = __m512i;
inline Codes LoadCodes(const char* p) { return _mm512_loadu_si512(p); }
inline Codes BroadcastCodes(int four) { return _mm512_set1_epi32(four); }
inline Codes LowHalves(Codes codes) {
  return _mm512_and_si512(codes, _mm512_set1_epi8(0xf));
}
inline Codes HighHalves(Codes codes) {
  return LowHalves(_mm512_srli_epi16(codes, 4));
}
inline Codes EvenBytes(Codes codes) {
  return _mm512_and_si512(codes, _mm512_set1_epi16(0xff));
}
inline Codes OddBytes(Codes codes) { return _mm512_srli_epi16(codes, 8); }
template <int kBits>
struct GroupSum {
  GroupSum() {}
  Codes sum = _mm512_setzero_si512();
  void Add(Codes weights, Codes x) {
    sum = _mm512_dpwssd_epi32(sum, weights, x);
  }
  Vec Scaled(int more, Vec scale) const {
    return Mul(_mm512_maskz_cvtepi32_ps(
                   kAll, _mm512_add_epi32(sum, BroadcastCodes(more))),
               scale);
  }
};
template <>
struct GroupSum<4> {
  GroupSum() {}
  Codes sum = _mm512_set1_epi32(kSumBiasBits);
  void Add(Codes weights, Codes x) {
    sum = _mm512_dpbusd_epi32(sum, weights, x);
  }
  Vec Scaled(int /*more*/, Vec scale) const {
    return ScaleBiased(_mm512_castsi512_ps(sum), scale,
                       Mul(scale, Broadcast(kSumBias)));
  }
};
static_assert(kGroupNumbers * 15 * 128 <= kMostBiasedSum);
inline Vec LoadHalfs(const uint16_t* p) {
  return _mm512_maskz_cvtph_ps(
      kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
#include "engine/ops/matmul/group_kernel.inc"
// With fewer rows vectors are as fast.
constexpr int kRowsWorthTiles = 10;
#include "engine/ops/matmul/group_tiles.inc"
}  // namespace groups
ATTEND_AVX512_VNNI_END

namespace attend {
namespace baseline::groups {

// The definition, for machines that are older than all that serve.
template <int kBits>
float Product(const OperandGroup<kBits>* src, const char* block, int groups,
              int column) {
  using Group = WeightGroup<kBits>;
  const auto half = [&](const char* halfs) {
    uint16_t bits;
    std::memcpy(&bits, halfs + sizeof(bits) * column, sizeof(bits));
    return HalfToFloat(bits);
  };
  float total = 0;
  for (int g = 0; g < groups; ++g, ++src, block += Group::kBytes) {
    int sum = Group::kHasMin ? 0 : -128 * src->sum;
    for (int i = 0; i < kGroupNumbers; ++i) {
      const uint8_t byte =
          static_cast<uint8_t>(block[Group::ByteOf(column, i)]);
      const int code = !Group::kHasMin ? byte : i < 16 ? byte & 0xf : byte >> 4;
      sum += code * src->codes[i];
    }
    total += half(block) * static_cast<float>(sum) * src->scale;
    if constexpr (Group::kHasMin) {
      total += half(block + Group::kMins) *
               (src->scale * static_cast<float>(src->sum));
    }
  }
  return total;
}

template <int kBits>
void Multiply(const MultiplyArgs& a) {
  const size_t block_bytes = WeightGroup<kBits>::kBytes * a.units;
  for (int row = 0; row < a.rows; ++row) {
    const OperandGroup<kBits>* const src =
        static_cast<const OperandGroup<kBits>*>(a.src) +
        ptrdiff_t{row} * a.units;
    float* const dst = a.dst + ptrdiff_t{row} * a.n;
    for (int column = 0; column < a.n; ++column) {
      const char* const block = static_cast<const char*>(a.weights) +
                                column / kBlockColumns * block_bytes;
      dst[column] = Product<kBits>(src, block, a.units, column % kBlockColumns);
    }
  }
}

}  // namespace baseline::groups

MultiplyKernel GroupKernelFor(ComputeType dtype, Isa isa) {
  const bool four = dtype == ComputeType::kInt4;
  if (isa >= Isa::kAmx) {
    return four ? avx512::groups::MultiplyWithAmx<4>
                : avx512::groups::MultiplyWithAmx<8>;
  }
  if (isa >= Isa::kAvx512Vnni) {
    return four ? avx512::groups::Multiply<4> : avx512::groups::Multiply<8>;
  }
  if (isa >= Isa::kAvx2) {
    return four ? avx2::groups::MultiplyUnpacked<4>
                : avx2::groups::MultiplyUnpacked<8>;
  }
  return four ? baseline::groups::Multiply<4> : baseline::groups::Multiply<8>;
}

}  // namespace attend
