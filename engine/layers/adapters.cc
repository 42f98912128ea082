#include "engine/layers/adapters.h"

#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<Adapters> Adapters::Create(Primitives& primitives,
                                          ComputeType dtype,
                                          const RowSource& down,
                                          Buffer<float> up, int rank,
                                          int max_rows) {
  ATTEND_CHECK(rank > 0 && down.rows() % rank == 0);
  ATTEND_CHECK(up.size() % down.rows() == 0);
  ASSIGN_OR_RETURN(MatMul matmul, MatMul::Create(primitives, dtype, down,
                                                 max_rows, {0, down.rows()}));
  return Adapters(std::move(matmul), std::move(up), rank);
}

absl::StatusOr<LowRank> Adapters::Run(ExecContext& context, const Operand& src,
                                      const AdaptedRows& rows) const {
  const Matrix& products = rows.products;
  RETURN_IF_ERROR(down_.Run(context, src, {}, products));
  return LowRank{.choices = rows.choices,
                 .rank = rank_,
                 .left = products,
                 .right = up_.data()};
}

}  // namespace attend
