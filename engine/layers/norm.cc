#include "engine/layers/norm.h"

namespace attend {

void Norm::Run(Compute& compute, ConstMatrix src, Matrix dst,
               const Operand& operand) const {
  Normalize(compute, src, weights(), dst, operand);
}

}  // namespace attend
