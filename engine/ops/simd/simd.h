#ifndef ATTEND_ENGINE_OPS_SIMD_SIMD_H_
#define ATTEND_ENGINE_OPS_SIMD_SIMD_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/ops/simd/targets.h"
#include "engine/ops/simd/vec_avx2.h"
#include "engine/ops/simd/vec_avx512.h"
#include "engine/ops/simd/vec_baseline.h"

// A vector of floats for each instruction set, so that a kernel is written once
// and compiled once for each instruction set (see targets.h). Each vec_*.h has
// the same functions, but for those that only make others; vec_baseline.h says
// what they do.
//
// A lane's result depends on that lane's operands only. Max(a, b) and Min(a, b)
// are b if a or b is NaN.

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
