#ifndef ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/isa.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// FAILED_PRECONDITION if this machine's instructions, as far as `isa` allows
// them, cannot multiply in `dtype`: bf16 needs AVX-512, int8 AVX-512 VNNI, for
// without it sums of products would saturate.
absl::Status CheckComputeType(ComputeType dtype, Isa isa);

// bf16 where the CPU multiplies it natively (about twice as fast as f32 with
// AVX-512, several times with AMX, at f32's quality), else f32.
ComputeType DefaultComputeType(Isa isa);

// dst = epilogue(src * W^T): one weight matrix, packed once, and the oneDNN
// primitives for every number of rows, made at load, or, for f32 with AVX-512,
// a kernel of our own. Const: what a run changes is its context's, so that any
// number of them may run at once. With AVX-512 or more row r of dst
// has the same bits for any number of rows and any team size; below, oneDNN's
// kernels promise no such thing.
//
// f32: products and sums in f32. bf16: sums in f32. int8: exact sums of u8 x s8
// in int32, with a scale per column of W and per row of src.
class MatMul {
 public:
  // `weights` is [n, k] as checkpoints store a linear map: read once, a few
  // rows at a time, by members of the team; not needed after the call.
  // `primitives` must outlive the matmul. More max_rows than 64 cost neither
  // time nor memory. Errors: that of CheckComputeType(); INTERNAL from oneDNN.
  static absl::StatusOr<MatMul> Create(Primitives& primitives,
                                       ComputeType dtype,
                                       const RowSource& weights, int max_rows);
  MatMul(MatMul&&);
  MatMul& operator=(MatMul&&);
  ~MatMul();

  ComputeType dtype() const;
  int in() const;   // k
  int out() const;  // n

  // src [rows, k] of this dtype, dst [rows, n], or [rows, n / 2] if the
  // epilogue is gated, rows <= max_rows; src does not overlap dst or the
  // epilogue's operand. `context` is for the primitives of Create().
  // Allocates nothing itself; oneDNN's dnnl_primitive_execute makes a map of
  // its four arguments (six small allocations, freed when it returns). Error:
  // INTERNAL from oneDNN.
  absl::Status Run(ExecContext& context, const Operand& src,
                   const Epilogue& epilogue, Matrix dst) const;

 private:
  struct Impl;
  explicit MatMul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_MATMUL_H_
