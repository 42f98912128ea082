#ifndef ATTEND_ENGINE_OPS_MATMUL_MULTIPLY_KERNEL_H_
#define ATTEND_ENGINE_OPS_MATMUL_MULTIPLY_KERNEL_H_

#include "engine/compute/isa.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"

namespace attend {

// Columns of one packed block of weights.
inline constexpr int kBlockColumns = 64;
// Numbers of a column that fill this many bytes lie together: a unit is one
// f32 or two bf16. In int8 it is four numbers.
inline constexpr int kUnitBytes = 4;
// Most rows of one call.
inline constexpr int kMultiplyRows = 64;

// With few rows a product is bound by the memory of the weights. So kernels
// prefetch them evenly, some lines with each unit, this many bytes ahead of
// those that are multiplied; into L2, since prefetches into L1 wait for each
// other. Many: more than are multiplied at once, so that much lies between a
// prefetch and the next; or any number by tiles.
inline constexpr int kAheadOfFewRows = 6 << 10;
inline constexpr int kAheadOfManyRows = 16 << 10;

// dst [rows, n] = src [rows, units] * weights [units, n]; src and dst are
// dense. The weights are blocks of 64 columns, one after the other, each
// [padded_units][64]; what lies beyond `units` and n is finite, and makes no
// difference. Of types with groups a row of src is groups, and weights are the
// groups of 64 columns (number_group.h); in w8 and int4 a unit is a group.
struct MultiplyArgs {
  const void* src = nullptr;  // numbers of an Operand
  const void* weights = nullptr;
  float* dst = nullptr;
  int rows = 0;  // in [1, kMultiplyRows]
  int units = 0;
  int padded_units = 0;  // a multiple of 16; 0 of types with groups
  int n = 0;
  // In int8: these columns, whole blocks, have two planes, one after the other,
  // whose products are added.
  Range precise = {};
  // In int8: what the sums of all rows begin with, [n]. Null: 0.
  const float* first = nullptr;
  // In int8: the floats from a row of dst to the next. 0: dst is dense.
  int dst_stride = 0;
};

// A row's bits depend on that row only.
using MultiplyKernel = void (*)(const MultiplyArgs& args);

// The kernel for rows of k numbers. Null where `isa` has no instruction for it,
// and where rows are no whole units.
MultiplyKernel MultiplyKernelFor(ComputeType dtype, int k, Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_MULTIPLY_KERNEL_H_
