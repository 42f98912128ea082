#ifndef ATTEND_ENGINE_OPS_MATMUL_WEIGHT_ROW_H_
#define ATTEND_ENGINE_OPS_MATMUL_WEIGHT_ROW_H_

#include <cstdint>

#include "engine/ops/exec/compute_type.h"
#include "engine/ops/matmul/epilogue_kernel.h"

namespace attend {

// What undoes the scale of an int8 row of weights and the shift of the rows
// that it is multiplied with (see Dequantize).
struct Int8Sums {
  float scale = 0;
  float sum = 0;
  int32_t shift_sum = 0;
};

// Rounds a row of weights, `src` [cols], to `dst`: an Operand's row without
// offset, but that int8 numbers are s8. The sums are zeros for other types.
Int8Sums RoundWeightRow(const EpilogueKernels& kernels, ComputeType dtype,
                        const float* src, int cols, void* dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_WEIGHT_ROW_H_
