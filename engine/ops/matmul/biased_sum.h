#ifndef ATTEND_ENGINE_OPS_MATMUL_BIASED_SUM_H_
#define ATTEND_ENGINE_OPS_MATMUL_BIASED_SUM_H_

#include <bit>
#include <cstdint>

#include "engine/ops/simd/simd.h"

namespace attend {

// A sum n of whole products, |n| < 2^22, becomes a float without an instruction
// of its own: n plus the bits of -kSumBias is the float -(kSumBias + n),
// exactly.
inline constexpr float kSumBias = 3 << 22;
inline constexpr int32_t kSumBiasBits = std::bit_cast<int32_t>(-kSumBias);
inline constexpr int kMostBiasedSum = (1 << 22) - 1;

}  // namespace attend

ATTEND_AVX512_BEGIN

// n * scale, of n plus kSumBiasBits. `bias` is scale * kSumBias, which is exact
// if a scale has at most 22 bits.
inline Vec ScaleBiased(Vec sum, Vec scale, Vec bias) {
  return _mm512_fnmsub_ps(sum, scale, bias);
}

ATTEND_AVX512_END

#endif  // ATTEND_ENGINE_OPS_MATMUL_BIASED_SUM_H_
