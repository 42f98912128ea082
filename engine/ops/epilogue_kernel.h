#ifndef ATTEND_ENGINE_OPS_EPILOGUE_KERNEL_H_
#define ATTEND_ENGINE_OPS_EPILOGUE_KERNEL_H_

#include "engine/compute/isa.h"
#include "engine/ops/epilogue.h"

namespace attend {

// Some columns of one row of a matmul's result: dst = activation(src + bias) +
// residual. Pointers are to the first of the columns; bias and residual may be
// null; dst may be src or residual.
struct RowPart {
  const float* src = nullptr;       // [columns]
  const float* bias = nullptr;      // [columns]
  const float* residual = nullptr;  // [columns]
  float* dst = nullptr;             // [columns]
  int columns = 0;
};

// The row kernels of one instruction set. A value's bits depend neither on
// where a row is cut into parts, nor on other rows.
//
// Errors against exact arithmetic: kSilu 1e-6 relative; kGelu 3e-7 * |x|
// absolute (erf by formula 7.1.26 of Abramowitz and Stegun).
struct EpilogueKernels {
  // Without the normalisation.
  void (*apply)(const RowPart& part, Activation activation) = nullptr;
  // dst = LayerNorm(src), both [columns]; dst may be src.
  void (*normalize)(const float* src, const LayerNormWeights& norm, int columns,
                    float* dst) = nullptr;
};

const EpilogueKernels& EpilogueKernelsFor(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EPILOGUE_KERNEL_H_
