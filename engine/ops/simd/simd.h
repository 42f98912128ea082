#ifndef ATTEND_ENGINE_OPS_SIMD_SIMD_H_
#define ATTEND_ENGINE_OPS_SIMD_SIMD_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <limits>

// A vector of floats for each instruction set, so that a kernel is written once
// and compiled once for each instruction set. A kernel file (*.inc) is included
// between ATTEND_<ISA>_BEGIN and ATTEND_<ISA>_END, for each ISA. These macros
// give each function its target: no flag of the build matters, and no
// instruction gets into code that runs on older CPUs: the linker keeps one copy
// of an inline function of the standard library, and flags of a file would make
// that copy, too. ATTEND_AVX512_VNNI and _BF16 are for kernels that multiply
// int8 or bf16, and may use all of avx512.
//
// A lane's result depends on that lane's operands only. Max(a, b) and Min(a, b)
// are b if a or b is NaN.
// clang-format off
#define ATTEND_BASELINE_BEGIN namespace attend::baseline {
#define ATTEND_BASELINE_END }
#ifdef __clang__  // for tests/fuzz and the checks of locks; releases are GCC's
#define ATTEND_AVX2_BEGIN \
  namespace attend::avx2 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define ATTEND_AVX2_END } _Pragma("clang attribute pop")
#define ATTEND_AVX512_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\"))), apply_to = function)")
#define ATTEND_AVX512_END ATTEND_AVX2_END
#define ATTEND_AVX512_VNNI_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni\"))), apply_to = function)")
#define ATTEND_AVX512_BF16_BEGIN \
  namespace attend::avx512 { \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\"))), apply_to = function)")
#else
// The pragmas stand last: g++ 14 drops what follows them in a macro.
#define ATTEND_AVX2_BEGIN     \
  namespace attend::avx2 {    \
  _Pragma("GCC push_options") \
  _Pragma("GCC target(\"avx2,fma\")")
#define ATTEND_AVX2_END } _Pragma("GCC pop_options")
#define ATTEND_AVX512_BEGIN   \
  namespace attend::avx512 {  \
  _Pragma("GCC push_options") \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\")")
#define ATTEND_AVX512_END } _Pragma("GCC pop_options")
#define ATTEND_AVX512_VNNI_BEGIN \
  namespace attend::avx512 {     \
  _Pragma("GCC push_options")    \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni\")")
#define ATTEND_AVX512_BF16_BEGIN \
  namespace attend::avx512 {     \
  _Pragma("GCC push_options")    \
  _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\")")
#endif
#define ATTEND_AVX512_VNNI_END ATTEND_AVX512_END
#define ATTEND_AVX512_BF16_END ATTEND_AVX512_END
// clang-format on

ATTEND_BASELINE_BEGIN
using Vec = __m128;
inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 16;
inline Vec Zero() { return _mm_setzero_ps(); }
inline Vec Broadcast(float x) { return _mm_set1_ps(x); }
inline Vec Load(const float* p) { return _mm_loadu_ps(p); }
inline void Store(float* p, Vec v) { _mm_storeu_ps(p, v); }
// The first `n` < kLanes values; the other lanes are 0.
inline Vec LoadFirst(const float* p, int n) {
  return _mm_setr_ps(n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0);
}
inline void StoreFirst(float* p, int n, Vec v) {
  alignas(16) float lanes[kLanes];
  _mm_store_ps(lanes, v);
  for (int i = 0; i < n; ++i) p[i] = lanes[i];
}
inline Vec Add(Vec a, Vec b) { return _mm_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm_mul_ps(a, b); }
inline Vec Max(Vec a, Vec b) { return _mm_max_ps(a, b); }
inline Vec Min(Vec a, Vec b) { return _mm_min_ps(a, b); }
// a * b + c; fused where the machine can.
inline Vec MulAdd(Vec a, Vec b, Vec c) { return Add(Mul(a, b), c); }
inline Vec Round(Vec a) { return _mm_cvtepi32_ps(_mm_cvtps_epi32(a)); }
inline Vec Floor(Vec a) {
  const Vec n = Round(a);
  return _mm_sub_ps(n, _mm_and_ps(_mm_cmpgt_ps(n, a), _mm_set1_ps(1.0f)));
}
// a - floor(a).
inline Vec Fraction(Vec a) { return _mm_sub_ps(a, Floor(a)); }
// a * 2^floor(n) for n in [-126, 128).
inline Vec Scale(Vec a, Vec n) {
  const __m128i exponent =
      _mm_add_epi32(_mm_cvtps_epi32(Floor(n)), _mm_set1_epi32(127));
  return Mul(a, _mm_castsi128_ps(_mm_slli_epi32(exponent, 23)));
}
// `value` where a >= b, else 0; 0 where a or b is NaN.
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm_and_ps(_mm_cmpge_ps(a, b), value);
}
// A bit a lane: whether a <= b is false, as it is if a or b is NaN.
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm_movemask_ps(_mm_cmpnle_ps(a, b));
}
// The largest lane, where none is NaN.
inline float MaxOfNumbers(Vec v) {
  v = Max(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps(v, v, 1)));
}
// The sum of the lanes: adds the upper half to the lower half, and so on.
inline float SumOfLanes(Vec v) {
  v = Add(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps(v, v, 1)));
}
// a - b, as floats.
inline Vec LoadDifference(const int32_t* a, const int32_t* b) {
  return _mm_cvtepi32_ps(
      _mm_sub_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                    _mm_loadu_si128(reinterpret_cast<const __m128i*>(b))));
}
// Stores values within [0, 255], rounded to the nearest whole number.
inline void StoreBytes(uint8_t* p, Vec v) {
  const __m128i words =
      _mm_packs_epi32(_mm_cvtps_epi32(v), _mm_setzero_si128());
  const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  std::memcpy(p, &bytes, sizeof(bytes));
}
// The upper halves of floats rounded to the nearest; NaN stays NaN.
inline void StoreBf16(uint16_t* p, Vec v) {
  const __m128i bits = _mm_castps_si128(v);
  const __m128i odd =
      _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded =
      _mm_add_epi32(bits, _mm_add_epi32(_mm_set1_epi32(0x7fff), odd));
  const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(v, v));
  const __m128i kept =
      _mm_or_si128(_mm_andnot_si128(nan, rounded),
                   _mm_and_si128(nan, _mm_set1_epi32(0x7fc00000)));
  uint32_t lanes[kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes), kept);
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<uint16_t>(lanes[i] >> 16);
}
ATTEND_BASELINE_END

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
inline Vec Add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
inline Vec Max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec Min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec Round(Vec a) { return _mm256_cvtepi32_ps(_mm256_cvtps_epi32(a)); }
inline Vec Floor(Vec a) { return _mm256_floor_ps(a); }
inline Vec Fraction(Vec a) { return _mm256_sub_ps(a, Floor(a)); }
inline Vec Scale(Vec a, Vec n) {
  const __m256i exponent =
      _mm256_add_epi32(_mm256_cvtps_epi32(Floor(n)), _mm256_set1_epi32(127));
  return Mul(a, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ), value);
}
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NLE_UQ));
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
inline void StoreBytes(uint8_t* p, Vec v) {
  const __m256i whole = _mm256_cvtps_epi32(v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole),
                                        _mm256_extracti128_si256(whole, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p),
                   _mm_packus_epi16(words, words));
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
inline Vec Add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
// The zero-masking forms with all lanes kept give the plain instruction without
// the undefined operand that g++ 12 warns of (GCC bug 105593).
inline constexpr __mmask16 kAll = 0xffff;
inline Vec Max(Vec a, Vec b) { return _mm512_maskz_max_ps(kAll, a, b); }
inline Vec Min(Vec a, Vec b) { return _mm512_maskz_min_ps(kAll, a, b); }
inline __m512i ToInt(Vec a) { return _mm512_maskz_cvtps_epi32(kAll, a); }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec Round(Vec a) {
  return _mm512_maskz_roundscale_ps(kAll, a, _MM_FROUND_TO_NEAREST_INT);
}
inline Vec Fraction(Vec a) {
  return _mm512_maskz_reduce_ps(kAll, a, _MM_FROUND_TO_NEG_INF);
}
inline Vec Scale(Vec a, Vec n) { return _mm512_maskz_scalef_ps(kAll, a, n); }
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), value);
}
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
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
inline void StoreBytes(uint8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm512_maskz_cvtepi32_epi8(kAll, ToInt(v)));
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

// Functions made of the ones above, for each instruction set.
ATTEND_BASELINE_BEGIN
#include "engine/ops/simd/simd_math.inc"
ATTEND_BASELINE_END
ATTEND_AVX2_BEGIN
#include "engine/ops/simd/simd_math.inc"
ATTEND_AVX2_END
ATTEND_AVX512_BEGIN
#include "engine/ops/simd/simd_math.inc"
ATTEND_AVX512_END

#endif  // ATTEND_ENGINE_OPS_SIMD_SIMD_H_
