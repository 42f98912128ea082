#ifndef ATTEND_ENGINE_OPS_DNNL_ISA_H_
#define ATTEND_ENGINE_OPS_DNNL_ISA_H_

#include "absl/status/status.h"
#include "engine/compute/isa.h"

namespace attend {

// Keeps oneDNN, in the whole process, to the instructions of `max` (baseline:
// SSE4.1, the least that oneDNN knows). Called by whoever makes the process's
// Compute, with the same limit, before the first MatMul is created. Error:
// FAILED_PRECONDITION if oneDNN has chosen its instructions already.
absl::Status CapDnnlIsa(Isa max);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_DNNL_ISA_H_
