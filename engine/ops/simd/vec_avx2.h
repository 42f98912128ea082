#ifndef ATTEND_ENGINE_OPS_SIMD_VEC_AVX2_H_
#define ATTEND_ENGINE_OPS_SIMD_VEC_AVX2_H_

#include <immintrin.h>

#include <cstdint>

#include "engine/ops/simd/targets.h"
#include "engine/ops/simd/vec_baseline.h"

// The vector of simd.h with AVX2 and FMA.
ATTEND_AVX2_BEGIN
using Vec = __m256;
inline constexpr int kLanes = 8;
inline constexpr int kRegisters = 16;
inline Vec Zero() { return _mm256_setzero_ps(); }
inline Vec Broadcast(float x) { return _mm256_set1_ps(x); }
inline Vec Load(const float* p) { return _mm256_loadu_ps(p); }
inline void Store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline __m256i First(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec LoadFirst(const float* p, int n) {
  return _mm256_maskload_ps(p, First(n));
}
inline void StoreFirst(float* p, int n, Vec v) {
  _mm256_maskstore_ps(p, First(n), v);
}
inline Vec FirstOf(Vec a, int n, Vec b) {
  return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(First(n)));
}
inline Vec Add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
inline Vec Max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec Min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec Abs(Vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
inline Vec MaxAbs(Vec a, Vec b) { return Max(Abs(a), b); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec AddLn2Times(Vec n, Vec a) {
  return MulAdd(n, Broadcast(0.693147180559945f), a);
}
inline Vec Round(Vec a) { return _mm256_cvtepi32_ps(_mm256_cvtps_epi32(a)); }
inline Vec Floor(Vec a) { return _mm256_floor_ps(a); }
inline Vec Fraction(Vec a) { return _mm256_sub_ps(a, Floor(a)); }
inline Vec Scale(Vec a, Vec n) {
  const __m256i exponent =
      _mm256_add_epi32(_mm256_cvtps_epi32(Floor(n)), _mm256_set1_epi32(127));
  return Mul(a, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}
inline Vec TimesPower(Vec a, Vec shifted) {
  const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), power));
}
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ), value);
}
inline Vec ScaleIfAtLeast(Vec x, Vec least, Vec a, Vec n) {
  return KeepIfAtLeast(x, least, Scale(a, n));
}
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NLE_UQ));
}
template <int kStride>
inline Vec SwapLanes(Vec v) {
  if constexpr (kStride == 4) return _mm256_permute2f128_ps(v, v, 1);
  return kStride == 1 ? _mm256_permute_ps(v, 0xb1) : _mm256_permute_ps(v, 0x4e);
}
inline __m128 LowHalf(Vec v) { return _mm256_castps256_ps128(v); }
inline __m128 HighHalf(Vec v) { return _mm256_extractf128_ps(v, 1); }
inline float MaxOfNumbers(Vec v) {
  return baseline::MaxOfNumbers(_mm_max_ps(LowHalf(v), HighHalf(v)));
}
inline float SumOfLanes(Vec v) {
  return baseline::SumOfLanes(_mm_add_ps(LowHalf(v), HighHalf(v)));
}
inline Vec LoadDifference(const int32_t* a, const int32_t* b) {
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b))));
}
inline void StoreBf16(uint16_t* p, Vec v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd =
      _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_add_epi32(bits, _mm256_add_epi32(_mm256_set1_epi32(0x7fff), odd));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i kept = _mm256_srli_epi32(
      _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc00000), nan), 16);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packus_epi32(_mm256_castsi256_si128(kept),
                                    _mm256_extracti128_si256(kept, 1)));
}
ATTEND_AVX2_END

#endif  // ATTEND_ENGINE_OPS_SIMD_VEC_AVX2_H_
