#ifndef ATTEND_ENGINE_OPS_MATMUL_AMX_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_AMX_KERNEL_H_

#include "engine/ops/matmul/multiply_kernel.h"

namespace attend {

// A MultiplyKernel for Isa::kAmx: bf16 x bf16.
//
// Order of sums: those of 32 numbers after another, in ascending order, as the
// instruction adds them.
void MultiplyBf16ByTiles(const MultiplyArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_AMX_KERNEL_H_
