#ifndef ATTEND_ENGINE_LAYERS_DENSE_H_
#define ATTEND_ENGINE_LAYERS_DENSE_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// norm(activation(x W^T + b)), or without the norm: a layer of a trained head.
// Const after construction.
class Dense {
 public:
  Dense(Linear linear, Activation activation, std::optional<Norm> norm)
      : linear_(std::move(linear)),
        activation_(activation),
        norm_(std::move(norm)) {}

  int in() const { return linear_.in(); }
  int out() const { return linear_.out(); }

  // src [rows, in], dst [rows, out].
  absl::Status Run(ExecContext& context, const Operand& src, Matrix dst) const {
    if (!norm_)
      return linear_.Run(context, src, dst, {.activation = activation_});
    const auto norm = norm_->weights();
    return linear_.Run(context, src, dst,
                       {.activation = activation_, .norm = &norm});
  }

 private:
  Linear linear_;
  Activation activation_;
  std::optional<Norm> norm_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_DENSE_H_
