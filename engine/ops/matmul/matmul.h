#ifndef ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/isa.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// FAILED_PRECONDITION if `isa` cannot multiply in `dtype`. bf16 needs AVX-512;
// int8 needs AVX-512 VNNI, without which sums of products would saturate.
absl::Status CheckComputeType(ComputeType dtype, Isa isa);

// dst = epilogue(src * W^T). Holds one weight matrix, packed once, and computes
// with a kernel of our own (see MultiplyKernelFor()) or else with oneDNN's
// primitives, made at load for every number of rows. Const: a run changes only
// its context, so that any number of runs may be at work at once. With AVX-512
// or more a row of dst has the same bits for any number of rows and any team
// size. With older instructions oneDNN does not promise this.
//
// f32: products and sums in f32. bf16: sums in f32. int8: see Int8KernelFor().
// w8 and int4: see GroupKernelFor(), which has the same bits with AVX2, too.
class MatMul {
 public:
  // `weights` is [n, k], as checkpoints store a linear map. Members of the team
  // read it once, a few rows at a time; the call does not keep it. `primitives`
  // must outlive the matmul. A max_rows above 64 costs neither time nor memory.
  // In int8 the weights of the columns of `precise`, and of those in the same
  // blocks of 64, are rounded to about 16 bits, and take twice the time and
  // memory.
  // Errors: that of CheckComputeType(); INVALID_ARGUMENT: a number is too large
  // for w8 or int4; INTERNAL: an error of oneDNN.
  static absl::StatusOr<MatMul> Create(Primitives& primitives,
                                       ComputeType dtype,
                                       const RowSource& weights, int max_rows,
                                       Range precise = {});
  MatMul(MatMul&&);
  MatMul& operator=(MatMul&&);
  ~MatMul();

  ComputeType dtype() const;
  int in() const;   // k
  int out() const;  // n

  // src is [rows, k] of dtype(), with rows <= max_rows. dst is [rows, n], or
  // [rows, n / 2] if the epilogue is gated. src must not overlap dst or the
  // epilogue's operand. `context` is made with the primitives of Create().
  // Allocates nothing itself; oneDNN's dnnl_primitive_execute makes a map of
  // its four arguments (six small allocations, freed when it returns).
  // INTERNAL: an error of oneDNN.
  absl::Status Run(ExecContext& context, const Operand& src,
                   const Epilogue& epilogue, Matrix dst) const;

 private:
  struct Impl;
  explicit MatMul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_
