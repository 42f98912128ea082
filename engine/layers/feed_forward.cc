#include "engine/layers/feed_forward.h"

#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status FeedForward::Run(Compute& compute, ConstMatrix src, Matrix inner,
                              Matrix dst, const Epilogue& epilogue) const {
  RETURN_IF_ERROR(in_.Run(compute, src, inner, {.activation = activation_}));
  return out_.Run(compute, inner, dst, epilogue);
}

}  // namespace attend
