#ifndef ATTEND_ENGINE_OPS_LOGITS_DOT_KERNEL_H_
#define ATTEND_ENGINE_OPS_LOGITS_DOT_KERNEL_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/compute/isa.h"
#include "engine/ops/exec/compute_type.h"

namespace attend {

// dst[i] = src * weights[ids[i]]: the products of one row of an operand with
// some rows of a matrix. Bound by the memory of these rows: while a few are
// multiplied, the next ones are fetched.
struct DotArgs {
  const void* src = nullptr;      // [cols], of an Operand
  const char* weights = nullptr;  // [rows, cols], of an Operand
  size_t row_bytes = 0;
  int cols = 0;
  absl::Span<const int> ids = {};  // the rows
  float* dst = nullptr;            // [ids]
};

// The bits of a product depend on its two rows only.
using DotKernel = void (*)(const DotArgs& args);

// `isa` can multiply in `dtype` (see CheckComputeType()).
DotKernel DotKernelFor(ComputeType dtype, Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_DOT_KERNEL_H_
