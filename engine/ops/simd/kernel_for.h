#ifndef ATTEND_ENGINE_OPS_SIMD_KERNEL_FOR_H_
#define ATTEND_ENGINE_OPS_SIMD_KERNEL_FOR_H_

#include "engine/compute/isa.h"

namespace attend {

// The instance of a kernel (see simd.h) for `isa`.
template <typename Kernel>
Kernel KernelFor(Isa isa, Kernel baseline, Kernel avx2, Kernel avx512) {
  if (isa >= Isa::kAvx512) return avx512;
  return isa >= Isa::kAvx2 ? avx2 : baseline;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_SIMD_KERNEL_FOR_H_
