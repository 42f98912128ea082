#ifndef ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_
#define ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_

#include <utility>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "engine/layers/linear.h"
#include "engine/ops/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3):
// out(activation(in(x))). Const after construction.
class FeedForward {
 public:
  FeedForward(Linear in, Linear out, Activation activation)
      : in_(std::move(in)), out_(std::move(out)), activation_(activation) {}

  int width() const { return in_.out(); }

  // src and dst [rows, hidden]; `inner` and its operand [rows, width] are
  // overwritten. `epilogue` (residual, norm) follows the second bias.
  absl::Status Run(Compute& compute, const Operand& src, Matrix inner,
                   const Operand& inner_operand, Matrix dst,
                   const Epilogue& epilogue) const;

 private:
  Linear in_;   // hidden -> width
  Linear out_;  // width -> hidden
  Activation activation_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_
