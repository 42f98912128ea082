#ifndef ATTEND_ENGINE_OPS_SIMD_VEC_AVX512_H_
#define ATTEND_ENGINE_OPS_SIMD_VEC_AVX512_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "engine/ops/simd/targets.h"
#include "engine/ops/simd/vec_avx2.h"

// The vector of simd.h with AVX-512 F, BW, DQ and VL.
ATTEND_AVX512_BEGIN
using Vec = __m512;
inline constexpr int kLanes = 16;
inline constexpr int kRegisters = 32;
inline Vec Zero() { return _mm512_setzero_ps(); }
inline Vec Broadcast(float x) { return _mm512_set1_ps(x); }
inline Vec Load(const float* p) { return _mm512_loadu_ps(p); }
inline void Store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline __mmask16 First(int n) { return static_cast<__mmask16>((1u << n) - 1); }
inline Vec LoadFirst(const float* p, int n) {
  return _mm512_maskz_loadu_ps(First(n), p);
}
inline void StoreFirst(float* p, int n, Vec v) {
  _mm512_mask_storeu_ps(p, First(n), v);
}
inline Vec FirstOf(Vec a, int n, Vec b) {
  return _mm512_mask_blend_ps(First(std::clamp(n, 0, kLanes)), b, a);
}
inline Vec Add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
// The zero-masking forms with all lanes kept give the plain instruction without
// the undefined operand that g++ 12 warns of (GCC bug 105593).
inline constexpr __mmask16 kAll = 0xffff;
inline Vec Max(Vec a, Vec b) { return _mm512_maskz_max_ps(kAll, a, b); }
inline Vec Min(Vec a, Vec b) { return _mm512_maskz_min_ps(kAll, a, b); }
inline Vec Abs(Vec a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a); }
inline Vec MaxAbs(Vec a, Vec b) {
  constexpr int kLargerMagnitude = 3;
  constexpr int kWithoutSign = 8;
  return _mm512_maskz_range_ps(kAll, a, b, kLargerMagnitude + kWithoutSign);
}
inline __m512i ToInt(Vec a) { return _mm512_maskz_cvtps_epi32(kAll, a); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec AddLn2Times(Vec n, Vec a) {
  return MulAdd(n, Broadcast(0.693147180559945f), a);
}
inline Vec Round(Vec a) {
  return _mm512_maskz_roundscale_ps(kAll, a, _MM_FROUND_TO_NEAREST_INT);
}
inline Vec Fraction(Vec a) {
  return _mm512_maskz_reduce_ps(kAll, a, _MM_FROUND_TO_NEG_INF);
}
inline Vec TimesPower(Vec a, Vec shifted) {
  return _mm512_castsi512_ps(_mm512_add_epi32(
      _mm512_castps_si512(a),
      _mm512_maskz_slli_epi32(kAll, _mm512_castps_si512(shifted), 23)));
}
// table[i] of 16 numbers, where i is in the lowest four bits.
inline Vec LookUp(const float* table, Vec index) {
  return _mm512_maskz_permutexvar_ps(kAll, _mm512_castps_si512(index),
                                     Load(table));
}
inline __mmask16 AtLeast(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm512_maskz_mov_ps(AtLeast(a, b), value);
}
// Computes only what is kept: the CPU takes some 200 cycles for a result that
// is denormal.
inline Vec ScaleIfAtLeast(Vec x, Vec least, Vec a, Vec n) {
  return _mm512_maskz_scalef_ps(AtLeast(x, least), a, n);
}
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
}
template <int kStride>
inline Vec SwapLanes(Vec v) {
  if constexpr (kStride == 8) {
    return _mm512_maskz_shuffle_f32x4(kAll, v, v, 0x4e);
  }
  if constexpr (kStride == 4) {
    return _mm512_maskz_shuffle_f32x4(kAll, v, v, 0xb1);
  }
  return kStride == 1 ? _mm512_maskz_permute_ps(kAll, v, 0xb1)
                      : _mm512_maskz_permute_ps(kAll, v, 0x4e);
}
inline __m256 LowHalf(Vec v) {
  return _mm512_maskz_extractf32x8_ps(0xff, v, 0);
}
inline __m256 HighHalf(Vec v) {
  return _mm512_maskz_extractf32x8_ps(0xff, v, 1);
}
inline float MaxOfNumbers(Vec v) {
  return avx2::MaxOfNumbers(_mm256_max_ps(LowHalf(v), HighHalf(v)));
}
inline float SumOfLanes(Vec v) {
  return avx2::SumOfLanes(_mm256_add_ps(LowHalf(v), HighHalf(v)));
}
inline Vec LoadDifference(const int32_t* a, const int32_t* b) {
  return _mm512_maskz_cvtepi32_ps(
      kAll, _mm512_sub_epi32(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}
inline void StoreBf16(uint16_t* p, Vec v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_maskz_srli_epi32(kAll, bits, 16),
                                       _mm512_set1_epi32(1));
  const __m512i rounded =
      _mm512_add_epi32(bits, _mm512_add_epi32(_mm512_set1_epi32(0x7fff), odd));
  const __m512i kept =
      _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                            _mm512_set1_epi32(0x7fc00000));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_maskz_cvtepi32_epi16(
                          kAll, _mm512_maskz_srli_epi32(kAll, kept, 16)));
}
ATTEND_AVX512_END

#endif  // ATTEND_ENGINE_OPS_SIMD_VEC_AVX512_H_
