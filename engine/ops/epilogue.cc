#include "engine/ops/epilogue.h"

#include "engine/ops/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {

void LayerNorm(Compute& compute, ConstMatrix src, const LayerNormWeights& norm,
               Matrix dst) {
  ATTEND_CHECK(src.rows == dst.rows && src.cols == dst.cols);
  const auto normalize = EpilogueKernelsFor(compute.isa()).normalize;
  compute.team().Run([&](int member) {
    const Range share = Share(src.rows, member, compute.team().size());
    for (int r = share.begin; r < share.end; ++r) {
      normalize(src.row(r), norm, src.cols, dst.row(r));
    }
  });
}

}  // namespace attend
