#ifndef ATTEND_ENGINE_OPS_SIMD_SIMD_NARROW_H_
#define ATTEND_ENGINE_OPS_SIMD_SIMD_NARROW_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/ops/simd/simd.h"

// Conversions between vectors of floats and narrower numbers, for each
// instruction set:
//   Load(const uint16_t*): bf16, the upper halves of floats; exact.
//   Load(const int8_t*): exact.
//   StoreRounded(): to nearest, ties to even; values are within the type.
//   StoreAndSum(): the same of several vectors; the lanes of the result sum to
//   the sum of what is stored.
//   UpToBf16(): the least bf16 that is not below a value, which is 0 or more.
// Transpose(): lane j of vector i becomes lane i of vector j.
ATTEND_BASELINE_BEGIN
inline bool AnyNan(Vec a) {
  return _mm_movemask_ps(_mm_cmpunord_ps(a, a)) != 0;
}
inline Vec Load(const uint16_t* p) {
  const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), x));
}
inline Vec Load(const int8_t* p) {
  int32_t four;
  std::memcpy(&four, p, sizeof(four));
  const __m128i x = _mm_cvtsi32_si128(four);
  const __m128i pairs = _mm_unpacklo_epi8(x, x);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(pairs, pairs), 24));
}
inline void StoreRounded(int8_t* p, Vec v) {
  const __m128i words =
      _mm_packs_epi32(_mm_cvtps_epi32(v), _mm_setzero_si128());
  const int32_t four =
      _mm_cvtsi128_si32(_mm_packs_epi16(words, _mm_setzero_si128()));
  std::memcpy(p, &four, sizeof(four));
}
inline void StoreRounded(int16_t* p, Vec v) {
  const __m128i whole = _mm_cvtps_epi32(v);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p),
                   _mm_packs_epi32(whole, whole));
}
inline Vec UpToBf16(Vec a) {
  const __m128i bits =
      _mm_add_epi32(_mm_castps_si128(a), _mm_set1_epi32(0xffff));
  return _mm_castsi128_ps(
      _mm_and_si128(bits, _mm_set1_epi32(~int32_t{0xffff})));
}
#include "engine/ops/simd/simd_narrow.inc"
inline void Transpose(Vec (&x)[kLanes]) {
  _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
}
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
inline bool AnyNan(Vec a) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)) != 0;
}
inline Vec Load(const uint16_t* p) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}
inline Vec Load(const int8_t* p) {
  const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x));
}
inline __m128i ToWords(Vec v) {
  const __m256i x = _mm256_cvtps_epi32(v);
  return _mm_packs_epi32(_mm256_castsi256_si128(x),
                         _mm256_extracti128_si256(x, 1));
}
inline void StoreRounded(int8_t* p, Vec v) {
  const __m128i words = ToWords(v);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p),
                   _mm_packs_epi16(words, words));
}
inline void StoreRounded(int16_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), ToWords(v));
}
#include "engine/ops/simd/simd_narrow.inc"
inline void Transpose(Vec (&x)[kLanes]) {
  // Within halves of 4 lanes, then the halves.
  Vec y[kLanes];
  for (int i = 0; i < kLanes; i += 4) {
    const Vec a = _mm256_unpacklo_ps(x[i], x[i + 1]);
    const Vec b = _mm256_unpackhi_ps(x[i], x[i + 1]);
    const Vec c = _mm256_unpacklo_ps(x[i + 2], x[i + 3]);
    const Vec d = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);
    y[i] = _mm256_shuffle_ps(a, c, 0x44);
    y[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    y[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    y[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(y[i], y[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(y[i], y[i + 4], 0x31);
  }
}
ATTEND_AVX2_END

// The zero-masking forms are for g++ 12, see simd.h.
ATTEND_AVX512_BEGIN
inline bool AnyNan(Vec a) {
  return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0;
}
inline Vec Load(const uint16_t* p) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(
      _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, x), 16));
}
inline Vec Load(const int8_t* p) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepi8_epi32(kAll, x));
}
inline void StoreRounded(int8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm512_maskz_cvtsepi32_epi8(kAll, ToInt(v)));
}
inline void StoreRounded(int16_t* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_maskz_cvtsepi32_epi16(kAll, ToInt(v)));
}
#include "engine/ops/simd/simd_narrow.inc"
// The instructions that narrow a vector each would take twice as long.
template <int kCount, typename = std::enable_if_t<kCount % 4 == 0>>
inline Vec StoreAndSum(const Vec (&x)[kCount], int8_t* p) {
  constexpr __mmask32 kAllWords = 0xffffffff;
  constexpr __mmask64 kAllBytes = 0xffffffffffffffff;
  // Packing leaves quarter q of vector i at 4 q + i.
  const __m512i order =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i sums = _mm512_setzero_si512();  // words, of at most kCount codes
  static_assert(kCount * 128 <= INT16_MAX);
#pragma GCC unroll 8
  for (int i = 0; i < kCount; i += 4) {
    const __m512i a =
        _mm512_maskz_packs_epi32(kAllWords, ToInt(x[i]), ToInt(x[i + 1]));
    const __m512i b =
        _mm512_maskz_packs_epi32(kAllWords, ToInt(x[i + 2]), ToInt(x[i + 3]));
    sums = _mm512_add_epi16(sums, _mm512_add_epi16(a, b));
    const __m512i codes = _mm512_maskz_packs_epi16(kAllBytes, a, b);
    _mm512_storeu_si512(p + i * kLanes,
                        _mm512_maskz_permutexvar_epi32(kAll, order, codes));
  }
  const __m512i pairs =
      _mm512_maskz_madd_epi16(kAll, sums, _mm512_set1_epi16(1));
  return _mm512_maskz_cvtepi32_ps(kAll, pairs);
}
inline void Transpose(Vec (&x)[kLanes]) {
  // Within quarters of 4 lanes, then the quarters.
  Vec y[kLanes];
  for (int i = 0; i < kLanes; i += 4) {
    const Vec a = _mm512_maskz_unpacklo_ps(kAll, x[i], x[i + 1]);
    const Vec b = _mm512_maskz_unpackhi_ps(kAll, x[i], x[i + 1]);
    const Vec c = _mm512_maskz_unpacklo_ps(kAll, x[i + 2], x[i + 3]);
    const Vec d = _mm512_maskz_unpackhi_ps(kAll, x[i + 2], x[i + 3]);
    y[i] = _mm512_maskz_shuffle_ps(kAll, a, c, 0x44);
    y[i + 1] = _mm512_maskz_shuffle_ps(kAll, a, c, 0xee);
    y[i + 2] = _mm512_maskz_shuffle_ps(kAll, b, d, 0x44);
    y[i + 3] = _mm512_maskz_shuffle_ps(kAll, b, d, 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    const Vec even = _mm512_maskz_shuffle_f32x4(kAll, y[i], y[i + 4], 0x88);
    const Vec odd = _mm512_maskz_shuffle_f32x4(kAll, y[i], y[i + 4], 0xdd);
    const Vec even2 =
        _mm512_maskz_shuffle_f32x4(kAll, y[i + 8], y[i + 12], 0x88);
    const Vec odd2 =
        _mm512_maskz_shuffle_f32x4(kAll, y[i + 8], y[i + 12], 0xdd);
    x[i] = _mm512_maskz_shuffle_f32x4(kAll, even, even2, 0x88);
    x[i + 4] = _mm512_maskz_shuffle_f32x4(kAll, odd, odd2, 0x88);
    x[i + 8] = _mm512_maskz_shuffle_f32x4(kAll, even, even2, 0xdd);
    x[i + 12] = _mm512_maskz_shuffle_f32x4(kAll, odd, odd2, 0xdd);
  }
}
ATTEND_AVX512_END

#endif  // ATTEND_ENGINE_OPS_SIMD_SIMD_NARROW_H_
