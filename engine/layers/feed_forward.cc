#include "engine/layers/feed_forward.h"

#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status FeedForward::Run(ExecContext& context, const Operand& src,
                              Matrix inner, const Operand& inner_operand,
                              Matrix dst, const Epilogue& epilogue,
                              const AdaptedRows& adapted) const {
  RETURN_IF_ERROR(in_.Run(context, src, inner,
                          {.activation = activation_,
                           .gated = gated_,
                           .operand = inner_operand,
                           .operand_only = true},
                          adapted));
  return out_.Run(context, inner_operand, dst, epilogue, adapted);
}

}  // namespace attend
