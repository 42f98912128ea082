#include "engine/layers/norm.h"

namespace attend {

void Norm::Run(Compute& compute, ConstMatrix src, Matrix dst) const {
  LayerNorm(compute, src, weights(), dst);
}

}  // namespace attend
