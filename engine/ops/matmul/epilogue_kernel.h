#ifndef ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_

#include <cstddef>

#include "engine/compute/isa.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/number_group.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"

namespace attend {

// Some columns of some rows of a matmul's result, for the operation
//   dst = activation(src + bias) + residual, or
//   dst = activation(src + bias) * (value->src + value->bias)
// Pointers are to the first column of the first row; strides, from row to row,
// are in numbers. bias, residual and value may be null; residual or value is
// null. dst may be src or residual.
struct ResultTile {
  const float* src = nullptr;       // [rows, columns]
  const float* bias = nullptr;      // [columns]
  const float* residual = nullptr;  // [rows, columns]
  // Equally many other columns of the same rows. Only src, bias and src_stride
  // of this tile are used.
  const ResultTile* value = nullptr;
  float* dst = nullptr;  // [rows, columns]
  int columns = 0;
  int rows = 1;
  ptrdiff_t src_stride = 0;
  ptrdiff_t dst_stride = 0;  // of residual too
};

// Some columns of some rows of a matmul's result, for the operation
//   dst += left * right
// Pointers are to the first of them, strides as in ResultTile.
struct LowRankTile {
  const float* left = nullptr;   // [rows, rank]
  const float* right = nullptr;  // [rank, columns]
  float* dst = nullptr;          // [rows, columns]
  int rows = 1;
  int rank = 0;
  int columns = 0;
  ptrdiff_t left_stride = 0;
  ptrdiff_t right_stride = 0;
  ptrdiff_t dst_stride = 0;
};

// The row kernels of one instruction set. The bits of a result depend neither
// on how a row is cut into tiles, nor on other rows.
//
// Errors against exact arithmetic: kSilu 1e-6 relative; kGelu and kGeluTanh
// 3e-7 * |x| absolute; kTanh 3e-7 relative.
struct EpilogueKernels {
  // The operation of ResultTile.
  void (*apply)(const ResultTile& tile, Activation activation) = nullptr;
  // The operation of LowRankTile.
  void (*add_low_rank)(const LowRankTile& tile) = nullptr;
  // dst = norm(src) for each row; both are [rows, columns], and dst may be src.
  void (*normalize)(const float* src, const NormWeights& norm, int rows,
                    int columns, float* dst) = nullptr;
  // `columns` of `rows` of dst = src [rows, dst.cols]. They are whole groups.
  void (*make_operand)(const float* src, const Operand& dst, Range rows,
                       Range columns) = nullptr;
  // A row of weights in int8 (Int8Row), spread (spread_block.h). Codes go
  // from the lowest number of a group, or 0, to the highest, or 0. The 8
  // smallest scales with which they do (16 of fewer than 64 numbers) are tried,
  // and the one with the smallest sum of squared errors is taken. Load time
  // only.
  void (*round_weights)(const float* src, int columns, void* dst) = nullptr;
  // Spreads a row in place (spread_block.h), and undoes that.
  void (*spread)(float* row, int columns) = nullptr;
  void (*unspread)(float* row, int columns) = nullptr;
};

const EpilogueKernels& EpilogueKernelsFor(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_EPILOGUE_KERNEL_H_
