#include "engine/transformer/head.h"

#include <cstddef>

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
    RETURN_IF_ERROR(layer.Run(context, src, dst));
    src = dst;
    next = 1 - next;
  }
  return src;
}

}  // namespace attend
