#ifndef ATTEND_ENGINE_OPS_SIMD_VEC_BASELINE_H_
#define ATTEND_ENGINE_OPS_SIMD_VEC_BASELINE_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "engine/ops/simd/targets.h"

// The vector of simd.h with SSE2, which each x86-64 machine has.
namespace attend {
inline constexpr float kPowerShift = 3 << 22;  // see TimesPower()
}  // namespace attend

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
// The first `n` lanes of `a`, and the others of `b`. Below 0 `n` is as 0, above
// kLanes as kLanes.
inline Vec FirstOf(Vec a, int n, Vec b) {
  const __m128 first = _mm_castsi128_ps(
      _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3)));
  return _mm_or_ps(_mm_and_ps(first, a), _mm_andnot_ps(first, b));
}
inline Vec Add(Vec a, Vec b) { return _mm_add_ps(a, b); }
inline Vec Mul(Vec a, Vec b) { return _mm_mul_ps(a, b); }
inline Vec Max(Vec a, Vec b) { return _mm_max_ps(a, b); }
inline Vec Min(Vec a, Vec b) { return _mm_min_ps(a, b); }
inline Vec Abs(Vec a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
// The larger one of |a| and `b`, which is 0 or more; `b` if `a` is NaN.
inline Vec MaxAbs(Vec a, Vec b) { return Max(Abs(a), b); }
// a * b + c; fused where the machine can.
inline Vec MulAdd(Vec a, Vec b, Vec c) { return Add(Mul(a, b), c); }
// n * ln(2) + a for a whole number n, almost as if the product were exact: here
// that is the sum of an exact product and a small one.
inline Vec AddLn2Times(Vec n, Vec a) {
  return MulAdd(n, Broadcast(-2.12194440e-4f),
                MulAdd(n, Broadcast(0.693359375f), a));
}
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
// a * 2^n of n + kPowerShift, where n is a whole number: the shift leaves n in
// the lowest bits. The result must be a normal number.
inline Vec TimesPower(Vec a, Vec shifted) {
  const __m128i power = _mm_slli_epi32(_mm_castps_si128(shifted), 23);
  return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(a), power));
}
// `value` where a >= b, else 0; 0 where a or b is NaN.
inline Vec KeepIfAtLeast(Vec a, Vec b, Vec value) {
  return _mm_and_ps(_mm_cmpge_ps(a, b), value);
}
// a * 2^floor(n) where x >= least, else 0. Results that are kept must be normal
// numbers.
inline Vec ScaleIfAtLeast(Vec x, Vec least, Vec a, Vec n) {
  return KeepIfAtLeast(x, least, Scale(a, n));
}
// A bit a lane: whether a <= b is false, as it is if a or b is NaN.
inline uint32_t NotAtMost(Vec a, Vec b) {
  return _mm_movemask_ps(_mm_cmpnle_ps(a, b));
}
// Lanes i and i + kStride change places, where i has no bit kStride.
template <int kStride>
inline Vec SwapLanes(Vec v) {
  return kStride == 1 ? _mm_shuffle_ps(v, v, 0xb1) : _mm_shuffle_ps(v, v, 0x4e);
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

#endif  // ATTEND_ENGINE_OPS_SIMD_VEC_BASELINE_H_
