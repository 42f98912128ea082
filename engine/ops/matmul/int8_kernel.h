#ifndef ATTEND_ENGINE_OPS_MATMUL_INT8_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_INT8_KERNEL_H_

#include "engine/compute/isa.h"
#include "engine/ops/matmul/multiply_kernel.h"

namespace attend {

// The product of rows and weights in int8 (number_group.h): exact sums of whole
// numbers in a group, and sums of groups in ascending order in f32. The bits
// are the same with every instruction set. Null without AVX-512 VNNI, without
// which sums of products would saturate.
MultiplyKernel Int8KernelFor(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_INT8_KERNEL_H_
