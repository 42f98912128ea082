#include "engine/ops/attention/rotate_kernel.h"

#include <cstddef>

#include "engine/ops/simd/simd.h"

ATTEND_BASELINE_BEGIN
#include "engine/ops/attention/rotate_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/attention/rotate_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/attention/rotate_kernel.inc"
ATTEND_AVX512_END
