#ifndef ATTEND_ENGINE_LAYERS_DENSE_H_
#define ATTEND_ENGINE_LAYERS_DENSE_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/layers/pointwise.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// A layer of a trained head, computed in f32: a linear map, functions of its
// numbers, a residual, a norm and a length of 1, in this order. All of them may
// be absent. Const after construction.
class Dense {
 public:
  struct Parts {
    int out = 0;
    // Absent: the first `out` numbers of the input.
    std::optional<Linear> linear = std::nullopt;
    Activation activation = Activation::kNone;  // only with `linear`
    Pointwise pointwise = Pointwise::kNone;
    // Adds the input, or what `residual_linear` makes of it.
    bool residual = false;
    std::optional<Linear> residual_linear = std::nullopt;
    std::optional<Norm> norm = std::nullopt;
    bool unit_length = false;
  };

  explicit Dense(Parts parts) : parts_(std::move(parts)) {}

  int out() const { return parts_.out; }

  // src [rows, in], dst [rows, out]; they must not be the same.
  absl::Status Run(ExecContext& context, Matrix src, Matrix dst) const;

 private:
  absl::Status AddResidual(ExecContext& context, Matrix src, Matrix dst) const;

  Parts parts_;
};

// Scales the vector [width] to length 1; a zero vector stays.
void NormalizeLength(float* vector, int width);

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_DENSE_H_
