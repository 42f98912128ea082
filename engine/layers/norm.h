#ifndef ATTEND_ENGINE_LAYERS_NORM_H_
#define ATTEND_ENGINE_LAYERS_NORM_H_

#include <utility>

#include "engine/compute/compute.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// A normalisation with its weights. Const after construction.
class Norm {
 public:
  // gamma is [hidden], beta is [hidden] or empty. `rms`: see NormWeights.
  Norm(Buffer<float> gamma, Buffer<float> beta, float epsilon, bool rms = false)
      : gamma_(std::move(gamma)),
        beta_(std::move(beta)),
        epsilon_(epsilon),
        rms_(rms) {}

  // Points into this layer; for the epilogue of a matmul.
  NormWeights weights() const {
    return {.gamma = gamma_.data(),
            .beta = beta_.data(),
            .epsilon = epsilon_,
            .rms = rms_};
  }

  // src and dst are [rows, hidden] and may be the same. `operand` gets the
  // result too, see Epilogue.
  void Run(Compute& compute, ConstMatrix src, Matrix dst,
           const Operand& operand) const;

 private:
  Buffer<float> gamma_;  // [hidden]
  Buffer<float> beta_;   // [hidden] or empty
  float epsilon_;
  bool rms_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_NORM_H_
