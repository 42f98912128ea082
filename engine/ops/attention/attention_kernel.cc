#include "engine/ops/attention/attention_kernel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/ops/attention/attention_unroll.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_BASELINE_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_AVX512_END
