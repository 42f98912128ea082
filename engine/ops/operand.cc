#include "engine/ops/operand.h"

#include "engine/ops/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Values below which waking the team costs more than it saves.
constexpr int kSmall = 1 << 12;

}  // namespace

void MakeOperand(Compute& compute, ConstMatrix src, const Operand& dst) {
  ATTEND_CHECK(src.rows == dst.rows && src.cols == dst.cols);
  if (src.data == dst.data) return;
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  const auto make = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      kernels.make_operand(src.row(r), dst, r);
    }
  };
  if (src.rows * src.cols <= kSmall) return make({0, src.rows});
  compute.team().Run([&](int member) {
    make(Share(src.rows, member, compute.team().size()));
  });
}

OperandBuffer::OperandBuffer(DType dtype, int max_rows, int max_cols)
    : dtype_(dtype) {
  if (dtype == DType::kF32) return;
  data_ =
      Buffer<char>(static_cast<size_t>(max_rows) * max_cols * BytesOf(dtype));
  if (dtype == DType::kInt8) scales_ = Buffer<float>(max_rows);
}

Operand OperandBuffer::Of(Matrix floats) {
  if (dtype_ == DType::kF32) return OperandOf(floats);
  ATTEND_CHECK(static_cast<size_t>(floats.rows) * floats.cols *
                   BytesOf(dtype_) <=
               data_.size());
  return {.dtype = dtype_,
          .data = data_.data(),
          .scales = scales_.data(),
          .rows = floats.rows,
          .cols = floats.cols};
}

}  // namespace attend
