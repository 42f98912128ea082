#ifndef ATTEND_ENGINE_LAYERS_LINEAR_H_
#define ATTEND_ENGINE_LAYERS_LINEAR_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// y = x W^T + b. Owns packed weights and bias; const after Create().
class Linear {
 public:
  // `weights` is [out, in], and read as in MatMul::Create(); `bias` is [out] or
  // empty. Errors and `precise`: see MatMul::Create().
  static absl::StatusOr<Linear> Create(Primitives& primitives,
                                       ComputeType dtype,
                                       const RowSource& weights,
                                       Buffer<float> bias, int max_rows,
                                       Range precise = {});

  int in() const { return matmul_.in(); }
  int out() const { return matmul_.out(); }

  // src is [rows, in]; dst is [rows, out], or [rows, out / 2] if the epilogue
  // is gated. The layer sets the bias of the epilogue.
  absl::Status Run(ExecContext& context, const Operand& src, Matrix dst,
                   Epilogue epilogue = {}) const;

 private:
  Linear(MatMul matmul, Buffer<float> bias)
      : matmul_(std::move(matmul)), bias_(std::move(bias)) {}

  MatMul matmul_;
  Buffer<float> bias_;  // [out] or empty
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_LINEAR_H_
