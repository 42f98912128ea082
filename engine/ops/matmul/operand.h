#ifndef ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_
#define ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_

#include <cstddef>
#include <cstdint>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Rows as a matmul of `dtype` reads them; somebody else owns them.
// f32: floats. bf16: their upper halves, rounded to nearest even. int8: a byte
// q for scale * (q - 128 + offset), where the 254 steps of a row go from its
// least number (or 0) to its largest (or 0), and 0 is one of them; without
// offsets they go from -max|x| to max|x|, as weights do. The shift, for oneDNN
// keeps one packed layout for u8 x s8 only, and the offset are undone by column
// sums.
// What is not finite reaches every result of its row, as it does in f32, and no
// other row's: bf16 keeps it; int8 has no byte for it and makes the scale NaN.
struct Operand {
  ComputeType dtype = ComputeType::kF32;
  void* data = nullptr;      // [rows, cols]
  float* scales = nullptr;   // [rows], int8 only
  float* offsets = nullptr;  // [rows], whole numbers; int8 only, null: 0
  int rows = 0;
  int cols = 0;

  void* row(int r) const {
    return static_cast<char*>(data) +
           static_cast<size_t>(r) * cols * BytesOf(dtype);
  }
};

// Floats are their own operand.
inline Operand OperandOf(Matrix m) {
  return {.data = m.data, .rows = m.rows, .cols = m.cols};
}

// dst = src, row by row, both [rows, cols]; a row's bits depend on that row
// only. For where no epilogue has written the operand.
void MakeOperand(Compute& compute, ConstMatrix src, const Operand& dst);

// Owns the operand of up to max_rows rows, if it is not the floats themselves.
class OperandBuffer {
 public:
  OperandBuffer(ComputeType dtype, int max_rows, int max_cols);

  // The operand that belongs to `floats`: they themselves for f32, else as many
  // rows of this buffer from where `first_row` of the widest kind begins.
  Operand Of(Matrix floats, int first_row = 0);

 private:
  ComputeType dtype_;
  int max_rows_;
  int max_cols_;
  Buffer<char> data_;      // [max_rows, max_cols]
  Buffer<float> scales_;   // [max_rows]
  Buffer<float> offsets_;  // [max_rows]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_OPERAND_H_
