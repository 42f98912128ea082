#include "engine/transformer/head.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/ops/matmul/operand.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {

HeadBuffer::HeadBuffer(int width) : width_(width) {
  for (Buffer<float>& memory : memory_) {
    memory = Buffer<float>(static_cast<size_t>(kMaxHeadRows) * width);
  }
}

Matrix HeadBuffer::rows(int which, int rows, int cols) {
  ATTEND_CHECK(rows <= kMaxHeadRows && cols <= width_);
  return {memory_[which].data(), rows, cols};
}

absl::StatusOr<Matrix> Head::Run(ExecContext& context, HeadBuffer& buffer,
                                 Matrix src) const {
  int next = 1;
  for (const Dense& layer : layers_) {
    const Matrix dst = buffer.rows(next, src.rows, layer.out());
    RETURN_IF_ERROR(layer.Run(context, OperandOf(src), dst));
    src = dst;
    next = 1 - next;
  }
  return src;
}

void Pool(const EncodeState& state, Pooling pooling, int width, float* dst) {
  const int rows = state.rows();
  if (pooling == Pooling::kCls || pooling == Pooling::kLast) {
    const int row = pooling == Pooling::kCls ? 0 : rows - 1;
    std::copy_n(state.hidden(row, width), width, dst);
    return;
  }
  std::copy_n(state.hidden(0, width), width, dst);
  for (int r = 1; r < rows; ++r) {
    const float* const row = state.hidden(r, width);
    if (pooling == Pooling::kMax) {
      for (int j = 0; j < width; ++j) dst[j] = std::max(dst[j], row[j]);
    } else {
      for (int j = 0; j < width; ++j) dst[j] += row[j];
    }
  }
  if (pooling == Pooling::kMax) return;
  const float weight = 1.0f / static_cast<float>(rows);
  for (int j = 0; j < width; ++j) dst[j] *= weight;
}

void NormalizeLength(float* vector, int width) {
  double square = 0;
  for (int j = 0; j < width; ++j) square += double{vector[j]} * vector[j];
  if (square == 0) return;
  const float scale = static_cast<float>(1 / std::sqrt(square));
  for (int j = 0; j < width; ++j) vector[j] *= scale;
}

}  // namespace attend
