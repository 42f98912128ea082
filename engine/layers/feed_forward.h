#ifndef ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_
#define ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_

#include <utility>

#include "absl/status/status.h"
#include "engine/layers/adapters.h"
#include "engine/layers/linear.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3):
// out(activation(in(x))), or gated (Shazeer 2020): out(activation(gate(x)) *
// in(x)). Const after construction.
class FeedForward {
 public:
  // `in` maps hidden -> width. If gated, `in` maps hidden -> 2 * width: the
  // outputs of the gate, then those of the value.
  FeedForward(Linear in, Linear out, Activation activation, bool gated = false)
      : in_(std::move(in)),
        out_(std::move(out)),
        activation_(activation),
        gated_(gated) {}

  int width() const { return out_.in(); }

  // src and dst are [rows, hidden]. `inner` and its operand [rows, width] are
  // overwritten; `inner` needs memory in f32 only. `epilogue` (residual, norm)
  // is applied after the bias of `out`.
  absl::Status Run(ExecContext& context, const Operand& src, Matrix inner,
                   const Operand& inner_operand, Matrix dst,
                   const Epilogue& epilogue,
                   const AdaptedRows& adapted = {}) const;

 private:
  Linear in_;   // hidden -> width, or 2 * width
  Linear out_;  // width -> hidden
  Activation activation_;
  bool gated_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_FEED_FORWARD_H_
