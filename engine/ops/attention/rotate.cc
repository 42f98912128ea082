#include "engine/ops/attention/rotate.h"

#include <cstddef>

#include "engine/ops/attention/rotate_kernel.h"
#include "engine/ops/simd/kernel_for.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to this many numbers, waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

}  // namespace

void Rotate(Compute& compute, const RotateArgs& args) {
  ATTEND_CHECK(args.dims % 2 == 0 && args.dims <= args.head_dim &&
               args.dims <= kMaxRotaryDims);
  ATTEND_CHECK(args.heads * args.head_dim <= args.stride);
  const RotateRowKernel kernel = KernelFor<RotateRowKernel>(
      compute.isa(), baseline::RotateRow, avx2::RotateRow, avx512::RotateRow);
  const auto rotate = [&](Range rows) {
    RotaryScratch scratch;
    for (int r = rows.begin; r < rows.end; ++r) {
      const RowAngles angles = args.angles(r, scratch);
      kernel(args.values + static_cast<size_t>(r) * args.stride, args.heads,
             args.head_dim, args.dims / 2, angles.cos, angles.sin);
    }
  };
  if (static_cast<size_t>(args.rows) * args.heads * args.dims <= kSmall) {
    return rotate({0, args.rows});
  }
  compute.team().Run([&](int member) {
    rotate(Share(args.rows, member, compute.team().size()));
  });
}

}  // namespace attend
