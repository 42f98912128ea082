#include "engine/layers/norm.h"

#include "engine/compute/op_timer.h"

namespace attend {

void Norm::Run(Compute& compute, ConstMatrix src, Matrix dst,
               const Operand& operand) const {
  const OpTimer timer({.name = "norm", .rows = src.rows});
  Normalize(compute, src, weights(), dst, operand);
}

}  // namespace attend
