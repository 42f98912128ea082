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
// primitives for every number of rows up to max_rows, made at load. Const and
// shared by threads after Create(). Row r of dst has the same bits for any
// number of rows and any team size.
class MatMul {
 public:
  // `weights` is [n, k] row-major as checkpoints store a linear map; it is not
  // needed after the call. Errors: INTERNAL from oneDNN.
  static absl::StatusOr<MatMul> Create(Compute& compute, ConstMatrix weights,
                                       int max_rows);
  MatMul(MatMul&&);
  MatMul& operator=(MatMul&&);
  ~MatMul();

  int in() const;   // k
  int out() const;  // n

  // src [rows, k], dst [rows, n]; both dense. Allocates nothing.
  absl::Status Run(Compute& compute, ConstMatrix src, const Epilogue& epilogue,
                   Matrix dst) const;

 private:
  struct Impl;
  explicit MatMul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_H_
