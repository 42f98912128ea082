#ifndef ATTEND_ENGINE_TRANSFORMER_CONVOLUTION_H_
#define ATTEND_ENGINE_TRANSFORMER_CONVOLUTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// The convolution of ConvolutionSpec as one matrix product. Const after
// loading.
struct Convolution {
  int size = 0;
  Activation activation;
  Linear linear;  // [size * hidden] -> [hidden]: the vectors from the first on
  Norm norm;
};

// Reads the slots "<slot>.weight", "<slot>.bias" and "<slot>.norm". Errors name
// the tensor.
absl::StatusOr<Convolution> LoadConvolution(Primitives& primitives,
                                            Weights& weights,
                                            const std::string& slot, int hidden,
                                            const ConvolutionSpec& spec,
                                            const LoadOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_CONVOLUTION_H_
