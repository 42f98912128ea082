#include "engine/ops/matmul/weight_row.h"

namespace attend {
namespace {

// Turns the u8 numbers of an Operand into s8, in place. Returns their sum.
int32_t Unshift(void* numbers, int count) {
  uint8_t* const bytes = static_cast<uint8_t*>(numbers);
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const int number = bytes[i] - 128;
    bytes[i] = static_cast<uint8_t>(number);
    sum += number;
  }
  return sum;
}

}  // namespace

Int8Sums RoundWeightRow(const EpilogueKernels& kernels, ComputeType dtype,
                        const float* src, int cols, void* dst) {
  Int8Sums sums;
  Operand operand = {.dtype = dtype, .data = dst, .rows = 1, .cols = cols};
  const bool int8 = dtype == ComputeType::kInt8;
  if (int8) operand.scales = &sums.scale;
  kernels.make_operand(src, operand, 0);
  if (!int8) return sums;
  const int32_t sum = Unshift(dst, cols);
  sums.shift_sum = 128 * sum;
  sums.sum = static_cast<float>(sum);
  return sums;
}

}  // namespace attend
