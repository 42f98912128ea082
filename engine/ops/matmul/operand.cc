#include "engine/ops/matmul/operand.h"

#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to this many numbers, waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

}  // namespace

void MakeOperand(Compute& compute, ConstMatrix src, const Operand& dst) {
  ATTEND_CHECK(src.rows == dst.rows && src.cols == dst.cols);
  if (src.data == dst.data) return;
  const OpTimer timer(
      {.name = "operand", .rows = src.rows, .columns = src.cols});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  const auto make = [&](Range rows) {
    kernels.make_operand(src.row(rows.begin), dst, rows, {0, dst.cols});
  };
  // Weights of a vocabulary come here too: their count may not fit an int.
  if (static_cast<size_t>(src.rows) * src.cols <= kSmall) {
    return make({0, src.rows});
  }
  compute.team().Run([&](int member) {
    make(Share(src.rows, member, compute.team().size()));
  });
}

OperandBuffer::OperandBuffer(ComputeType dtype, int max_rows, int max_cols)
    : dtype_(dtype), max_rows_(max_rows), max_cols_(max_cols) {
  if (dtype == ComputeType::kF32) return;
  data_ = Buffer<char>::OfSteps(max_rows * OperandBytes(dtype, max_cols));
}

Operand OperandBuffer::Of(Matrix floats, int first_row) {
  if (dtype_ == ComputeType::kF32) return OperandOf(floats);
  ATTEND_CHECK(floats.cols <= max_cols_ &&
               first_row + floats.rows <= max_rows_);
  const size_t offset = first_row * OperandBytes(dtype_, max_cols_);
  return {.dtype = dtype_,
          .data = data_.data() + offset,
          .rows = floats.rows,
          .cols = floats.cols};
}

}  // namespace attend
