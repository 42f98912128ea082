#ifndef ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_
#define ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_

#include "absl/status/status.h"
#include "engine/compute/isa.h"

namespace attend {

// Limits oneDNN to the instructions of `max`, in the whole process (kBaseline:
// SSE4.1, the least that oneDNN knows). Our own kernels follow the Compute that
// they run on. To be called with the limit of the process's Compute, before the
// first MatMul is created. FAILED_PRECONDITION if oneDNN has chosen its
// instructions already.
absl::Status LimitIsa(Isa max);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_ISA_LIMIT_H_
