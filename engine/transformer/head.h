#ifndef ATTEND_ENGINE_TRANSFORMER_HEAD_H_
#define ATTEND_ENGINE_TRANSFORMER_HEAD_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/layers/dense.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Vectors whose layers are computed at once.
inline constexpr int kMaxHeadRows = 128;

// Working memory of a head's layers. Belongs to one worker.
class HeadBuffer {
 public:
  // `width`: the most numbers of a vector that a head reads or writes.
  explicit HeadBuffer(int width);

  // [rows, cols]; rows <= kMaxHeadRows. `which`: 0 or 1.
  Matrix rows(int which, int rows, int cols);

 private:
  int width_;
  Buffer<float> memory_[2];  // [kMaxHeadRows, width]
};

// The layers that follow an encoder. Their matmuls are in f32: they cost
// little, since a source is mostly one row here. Const after construction.
class Head {
 public:
  // `layers` may be empty.
  explicit Head(std::vector<Dense> layers) : layers_(std::move(layers)) {}

  // `src` is buffer.rows(0, rows, cols). Returns the result, in `buffer` too.
  absl::StatusOr<Matrix> Run(ExecContext& context, HeadBuffer& buffer,
                             Matrix src) const;

 private:
  std::vector<Dense> layers_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_HEAD_H_
