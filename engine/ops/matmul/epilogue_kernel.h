#ifndef ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "engine/compute/isa.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"

namespace attend {

// What turns an int8 matmul's sums into floats: the sum of u8 x s8 products of
// row r and column c, less shift_sums[c], plus row_offsets[r] * column_sums[c],
// times row_scales[r] * column_scales[c].
struct Dequantize {
  const float* column_sums = nullptr;    // [columns], of the weights
  const int32_t* shift_sums = nullptr;   // [columns], 128 times the same
  const float* column_scales = nullptr;  // [columns]
  const float* row_offsets = nullptr;    // [rows]
  const float* row_scales = nullptr;     // [rows]
};

// Some columns of some rows of a matmul's result: dst = activation(src + bias)
// + residual, or activation(src + bias) * (value's src + value's bias).
// Pointers are to the first row's first column; from row to row it is a stride,
// in values. bias, and residual or value or both, may be null; dst may be src
// or residual.
struct ResultPart {
  const void* src = nullptr;        // [rows, columns], floats or int32 sums
  Dequantize dequantize = {};       // for int32 sums; else without pointers
  const float* bias = nullptr;      // [columns]
  const float* residual = nullptr;  // [rows, columns]
  // As many other columns of the same rows; of it src, dequantize, bias and
  // src_stride count.
  const ResultPart* value = nullptr;
  float* dst = nullptr;  // [rows, columns]
  int columns = 0;
  int rows = 1;
  ptrdiff_t src_stride = 0;
  ptrdiff_t dst_stride = 0;  // of residual too
};

// The row kernels of one instruction set. A value's bits depend neither on
// where a row is cut into parts, nor on other rows.
//
// Errors against exact arithmetic: kSilu 1e-6 relative; kGelu and kGeluTanh
// 3e-7 * |x| absolute (erf by formula 7.1.26 of Abramowitz and Stegun); kTanh
// 3e-7 relative.
struct EpilogueKernels {
  // Without the normalisation.
  void (*apply)(const ResultPart& part, Activation activation) = nullptr;
  // dst = norm(src), both [columns]; dst may be src.
  void (*normalize)(const float* src, const NormWeights& norm, int columns,
                    float* dst) = nullptr;
  // Row `row` of dst = src [dst.cols]. Its time is two passes over a row that
  // lies in cache.
  void (*make_operand)(const float* src, const Operand& dst, int row) = nullptr;
};

const EpilogueKernels& EpilogueKernelsFor(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
