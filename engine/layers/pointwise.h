#ifndef ATTEND_ENGINE_LAYERS_POINTWISE_H_
#define ATTEND_ENGINE_LAYERS_POINTWISE_H_

#include "absl/types/span.h"

namespace attend {

// Functions of single numbers that heads of few rows apply and that no matmul
// has as its epilogue: the classes of torch.nn with their default arguments.
enum class Pointwise {
  kNone,
  kSigmoid,
  kLogSigmoid,
  kRelu6,
  kLeakyRelu,  // with slope 0.01 below 0
  kElu,        // with alpha 1; CELU is the same
  kSelu,
  kHardtanh,
  kHardsigmoid,
  kHardswish,
  kHardshrink,  // with lambda 0.5
  kSoftshrink,  // with lambda 0.5
  kTanhshrink,
  kSoftplus,
  kSoftsign,
  kMish,
  kRrelu,  // as in inference: the mean slope of 1/8 and 1/3 below 0
};

// Applies the function to each number in place.
void ApplyPointwise(Pointwise function, absl::Span<float> values);

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_POINTWISE_H_
