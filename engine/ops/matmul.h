#ifndef ATTEND_ENGINE_OPS_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/compute.h"
#include "engine/ops/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// dst = epilogue(src * W^T): one weight matrix, packed once, and the oneDNN
// primitives for every number of rows, made at load. Const after Create(). With
// AVX-512 or more row r of dst has the same bits for any number of rows and any
// team size; below, oneDNN's kernels promise no such thing.
class MatMul {
 public:
  // `weights` is [n, k] row-major as checkpoints store a linear map; it is not
  // needed after the call. `compute` must outlive the matmul. More max_rows
  // than 64 cost neither time nor memory. Errors: INTERNAL from oneDNN.
  static absl::StatusOr<MatMul> Create(Compute& compute, ConstMatrix weights,
                                       int max_rows);
  MatMul(MatMul&&);
  MatMul& operator=(MatMul&&);
  ~MatMul();

  int in() const;   // k
  int out() const;  // n

  // src [rows, k], dst [rows, n], rows <= max_rows; src and dst do not overlap.
  // `compute` is the one of Create(). Allocates nothing itself; oneDNN's
  // dnnl_primitive_execute makes a map of its four arguments (six small
  // allocations, freed when it returns). Error: INTERNAL from oneDNN.
  absl::Status Run(Compute& compute, ConstMatrix src, const Epilogue& epilogue,
                   Matrix dst) const;

 private:
  struct Impl;
  explicit MatMul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_H_
