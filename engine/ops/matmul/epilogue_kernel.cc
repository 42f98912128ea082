#include "engine/ops/matmul/epilogue_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/ops/matmul/spread_block.h"
#include "engine/ops/simd/kernel_for.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_BASELINE_BEGIN
#include "engine/ops/matmul/epilogue_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/matmul/epilogue_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/matmul/epilogue_kernel.inc"
ATTEND_AVX512_END

namespace attend {

const EpilogueKernels& EpilogueKernelsFor(Isa isa) {
  return *KernelFor(isa, &baseline::kEpilogueKernels, &avx2::kEpilogueKernels,
                    &avx512::kEpilogueKernels);
}

}  // namespace attend
