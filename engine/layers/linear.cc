#include "engine/layers/linear.h"

#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Linear> Linear::Create(Primitives& primitives, ComputeType dtype,
                                      const RowSource& weights,
                                      Buffer<float> bias, int max_rows,
                                      Range precise) {
  ASSIGN_OR_RETURN(MatMul matmul, MatMul::Create(primitives, dtype, weights,
                                                 max_rows, precise));
  return Linear(std::move(matmul), std::move(bias));
}

absl::Status Linear::Run(ExecContext& context, const Operand& src, Matrix dst,
                         Epilogue epilogue, const AdaptedRows& rows) const {
  epilogue.bias = bias_.data();
  LowRank low_rank;
  if (adapters_ && !rows.choices.empty()) {
    ASSIGN_OR_RETURN(low_rank, adapters_->Run(context, src, rows));
    epilogue.low_rank = &low_rank;
  }
  return matmul_.Run(context, src, epilogue, dst);
}

}  // namespace attend
