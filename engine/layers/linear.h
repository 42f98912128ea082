#ifndef ATTEND_ENGINE_LAYERS_LINEAR_H_
#define ATTEND_ENGINE_LAYERS_LINEAR_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/range.h"
#include "engine/layers/adapters.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// y = x W^T + b, and what the adapters of rows add. Owns packed weights and
// bias; const after Create() and SetAdapters().
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

  void SetAdapters(Adapters adapters) { adapters_ = std::move(adapters); }

  // src is [rows, in]; dst is [rows, out], or [rows, out / 2] if the epilogue
  // is gated. The layer sets the bias and the low rank of the epilogue. Without
  // adapters, those of `rows` change nothing.
  absl::Status Run(ExecContext& context, const Operand& src, Matrix dst,
                   Epilogue epilogue = {}, const AdaptedRows& rows = {}) const;

 private:
  Linear(MatMul matmul, Buffer<float> bias)
      : matmul_(std::move(matmul)), bias_(std::move(bias)) {}

  MatMul matmul_;
  Buffer<float> bias_;  // [out] or empty
  std::optional<Adapters> adapters_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_LINEAR_H_
