#ifndef ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_
#define ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_

#include "absl/status/status.h"
#include "engine/compute/isa.h"

namespace attend {

// Keeps the library behind the matmuls to the instructions of `max` too
// (baseline: SSE4.1, the least that it knows). The kernels here follow the
// Compute they run on; the library has one limit for the whole process. Called
// by whoever makes the process's Compute, with the same limit, before the first
// MatMul is created. Error: FAILED_PRECONDITION if the library has chosen its
// instructions already.
absl::Status LimitIsa(Isa max);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_
