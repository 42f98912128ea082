#ifndef ATTEND_ENGINE_OPS_MATMUL_GROUP_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_GROUP_KERNEL_H_

#include "engine/compute/isa.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/matmul/multiply_kernel.h"

namespace attend {

// The product of rows and weights in groups of 8 or 4 bits (number_group.h):
// exact sums of whole numbers in a group, and sums of groups in ascending order
// in f32. Beside weights of 8 bits, whole numbers of 16 bits are better than
// bf16: they are nearer to f32, their sums are exact in any order, and the
// instructions for them are faster. With AVX2 or more the bits are the same,
// also where many rows are multiplied in another way: by AMX's tiles, and with
// AVX2 by weights that are unpacked once. Every instruction set has a kernel.
MultiplyKernel GroupKernelFor(ComputeType dtype, Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_GROUP_KERNEL_H_
