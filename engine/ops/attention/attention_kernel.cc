#include "engine/ops/attention/attention_kernel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

// Unrolls short loops over vectors, so that these stay in registers. Not with
// sanitizers, which check every access: unrolled, the file would take minutes
// to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
#define ATTEND_UNROLL
#else
#define ATTEND_UNROLL _Pragma("GCC unroll 8")
#endif

ATTEND_BASELINE_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/attention/attention_kernel.inc"
ATTEND_AVX512_END
