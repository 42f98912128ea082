#include "engine/ops/epilogue.h"

#include "engine/ops/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {

void Normalize(Compute& compute, ConstMatrix src, const NormWeights& norm,
               Matrix dst, const Operand& operand) {
  ATTEND_CHECK(src.rows == dst.rows && src.cols == dst.cols);
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  compute.team().Run([&](int member) {
    const Range share = Share(src.rows, member, compute.team().size());
    for (int r = share.begin; r < share.end; ++r) {
      kernels.normalize(src.row(r), norm, src.cols, dst.row(r));
      if (operand.data != nullptr && operand.data != dst.data) {
        kernels.make_operand(dst.row(r), operand, r);
      }
    }
  });
}

}  // namespace attend
