#ifndef ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_
#define ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_

#include <cstddef>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Rows as a matmul of `dtype` reads them. Does not own the memory. Weights are
// described in number_group.h and epilogue_kernel.h.
// * f32: floats.
// * bf16: the upper halves of floats, rounded to nearest, ties to even.
// * int8: a row is an Int8Row of the row spread (spread_block.h). The levels of
//   a group are 2 * 127 equal intervals from -max|x| to max|x|, or a little
//   more, since the scale is a bf16.
// * w8, int4: a row is OperandGroups. The levels of a group are 2 * 32767 (w8)
//   or 2 * 127 (int4) equal intervals from -max|x| to max|x|.
// A number that is not finite makes every result of its row not finite, as in
// f32, and changes no other row: bf16 keeps the number; else the scale of the
// group is NaN.
struct Operand {
  ComputeType dtype = ComputeType::kF32;
  void* data = nullptr;  // [rows, cols]
  int rows = 0;
  int cols = 0;

  void* row(int r) const {
    return static_cast<char*>(data) +
           static_cast<size_t>(r) * OperandBytes(dtype, cols);
  }
};

// The operand of f32 matmuls: the floats themselves.
inline Operand OperandOf(Matrix m) {
  return {.data = m.data, .rows = m.rows, .cols = m.cols};
}

// dst = src, both [rows, cols]. A row's bits depend on that row only. For
// places where no epilogue has written the operand.
void MakeOperand(Compute& compute, ConstMatrix src, const Operand& dst);

// Owns the operand of up to max_rows rows. In f32 it owns nothing.
class OperandBuffer {
 public:
  OperandBuffer(ComputeType dtype, int max_rows, int max_cols);

  // The operand for `floats`. In f32: the floats themselves. Else: rows of this
  // buffer, from the place of row `first_row` on. That place does not depend on
  // floats.cols.
  Operand Of(Matrix floats, int first_row = 0);

 private:
  ComputeType dtype_;
  int max_rows_;
  int max_cols_;
  Buffer<char> data_;  // [max_rows, max_cols]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_
