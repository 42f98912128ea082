#include "engine/layers/dense.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/ops/matmul/operand.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status Dense::Run(ExecContext& context, Matrix src, Matrix dst) const {
  const bool between = parts_.pointwise != Pointwise::kNone || parts_.residual;
  std::optional<NormWeights> norm;
  if (parts_.norm) norm = parts_.norm->weights();
  if (parts_.linear) {
    RETURN_IF_ERROR(
        parts_.linear->Run(context, OperandOf(src), dst,
                           {.activation = parts_.activation,
                            .norm = norm && !between ? &*norm : nullptr}));
  } else {
    for (int r = 0; r < src.rows; ++r) {
      std::copy_n(src.row(r), dst.cols, dst.row(r));
    }
  }
  for (int r = 0; r < dst.rows; ++r) {
    ApplyPointwise(parts_.pointwise,
                   {dst.row(r), static_cast<size_t>(dst.cols)});
  }
  if (parts_.residual) RETURN_IF_ERROR(AddResidual(context, src, dst));
  if (norm && (between || !parts_.linear)) {
    parts_.norm->Run(context.compute(), dst, dst, {});
  }
  if (!parts_.unit_length) return absl::OkStatus();
  for (int r = 0; r < dst.rows; ++r) NormalizeLength(dst.row(r), dst.cols);
  return absl::OkStatus();
}

absl::Status Dense::AddResidual(ExecContext& context, Matrix src,
                                Matrix dst) const {
  if (parts_.residual_linear) {
    return parts_.residual_linear->Run(context, OperandOf(src), dst,
                                       {.residual = dst.data});
  }
  for (int r = 0; r < dst.rows; ++r) {
    for (int j = 0; j < dst.cols; ++j) dst.row(r)[j] += src.row(r)[j];
  }
  return absl::OkStatus();
}

void NormalizeLength(float* vector, int width) {
  double square = 0;
  for (int j = 0; j < width; ++j) square += double{vector[j]} * vector[j];
  if (square == 0) return;
  const float scale = static_cast<float>(1 / std::sqrt(square));
  for (int j = 0; j < width; ++j) vector[j] *= scale;
}

}  // namespace attend
