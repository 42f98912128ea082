#ifndef ATTEND_ENGINE_LAYERS_ADAPTERS_H_
#define ATTEND_ENGINE_LAYERS_ADAPTERS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The adapters that the rows of a pass have. Rows of one sequence have the
// same; rows of several may have any. Does not own the memory.
struct AdaptedRows {
  // The adapter of each row, -1: none. Empty: no row has one.
  absl::Span<const int> choices = {};
  // [rows, Adapters::width()], overwritten by each map; unused if no row has an
  // adapter.
  Matrix products = {};
};

// Low-rank changes of a linear map, of which each row takes one or none (Hu et
// al. 2021):
//   y = x W^T + b + scale * (x A^T) B^T
// The weights of the map stay as they are packed, in any dtype. x A^T is
// computed in the dtype of the map, with precise weights in int8, and its
// product with B in f32. A row's bits do not depend on the adapters of other
// rows. Const after Create().
class Adapters {
 public:
  // `down` [count * rank, in] has the matrices A of all adapters, one below the
  // other; `up` [count * rank, out] scale * B^T of all. Errors: see
  // MatMul::Create().
  static absl::StatusOr<Adapters> Create(Primitives& primitives,
                                         ComputeType dtype,
                                         const RowSource& down,
                                         Buffer<float> up, int rank,
                                         int max_rows);

  int width() const { return down_.out(); }  // count * rank

  // Computes rows.products of src [rows, in], which the result points to. For
  // Epilogue::low_rank of the map's own product. `rows` must have choices.
  absl::StatusOr<LowRank> Run(ExecContext& context, const Operand& src,
                              const AdaptedRows& rows) const;

 private:
  Adapters(MatMul down, Buffer<float> up, int rank)
      : down_(std::move(down)), up_(std::move(up)), rank_(rank) {}

  MatMul down_;
  Buffer<float> up_;
  int rank_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ADAPTERS_H_
