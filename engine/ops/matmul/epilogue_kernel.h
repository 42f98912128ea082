#ifndef ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "engine/compute/isa.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"

namespace attend {

// Turns an int8 matmul's sums into floats. If sum is the sum of the u8 x s8
// products of row r and column c, the result is
//   (sum - shift_sums[c] + row_offsets[r] * column_sums[c])
//     * row_scales[r] * column_scales[c]
struct Dequantize {
  const float* column_sums = nullptr;    // [columns], of the weights
  const int32_t* shift_sums = nullptr;   // [columns], 128 times the same
  const float* column_scales = nullptr;  // [columns]
  const float* row_offsets = nullptr;    // [rows]
  const float* row_scales = nullptr;     // [rows]
};

// Some columns of some rows of a matmul's result, for the operation
//   dst = activation(src + bias) + residual, or
//   dst = activation(src + bias) * (value->src + value->bias)
// Pointers are to the first column of the first row; strides, from row to row,
// are in numbers. bias, residual and value may be null; residual or value is
// null. dst may be src or residual.
struct ResultTile {
  const void* src = nullptr;        // [rows, columns], floats or int32 sums
  Dequantize dequantize = {};       // null pointers: src are floats
  const float* bias = nullptr;      // [columns]
  const float* residual = nullptr;  // [rows, columns]
  // Equally many other columns of the same rows. Only src, dequantize, bias and
  // src_stride of this tile are used.
  const ResultTile* value = nullptr;
  float* dst = nullptr;  // [rows, columns]
  int columns = 0;
  int rows = 1;
  ptrdiff_t src_stride = 0;
  ptrdiff_t dst_stride = 0;  // of residual too
};

// The row kernels of one instruction set. The bits of a result depend neither
// on how a row is cut into tiles, nor on other rows.
//
// Errors against exact arithmetic: kSilu 1e-6 relative; kGelu and kGeluTanh
// 3e-7 * |x| absolute (erf by formula 7.1.26 of Abramowitz and Stegun); kTanh
// 3e-7 relative.
struct EpilogueKernels {
  // The operation of ResultTile.
  void (*apply)(const ResultTile& tile, Activation activation) = nullptr;
  // dst = norm(src), both [columns]; dst may be src.
  void (*normalize)(const float* src, const NormWeights& norm, int columns,
                    float* dst) = nullptr;
  // Row `row` of dst = src [dst.cols], in two passes over a row that is in
  // cache.
  void (*make_operand)(const float* src, const Operand& dst, int row) = nullptr;
  // Undoes the spreading of a row, in place (spread_block.h).
  void (*unspread)(float* row, int columns) = nullptr;
};

const EpilogueKernels& EpilogueKernelsFor(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
