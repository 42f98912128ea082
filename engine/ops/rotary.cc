#include "engine/ops/rotary.h"

#include <cstddef>

#include "engine/ops/kernel_for.h"
#include "engine/ops/rotary_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Values below which waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

}  // namespace

void Rotate(Compute& compute, const RotateArgs& args) {
  const RotaryTable& table = args.table;
  ATTEND_CHECK(table.dims % 2 == 0 && table.dims <= args.head_dim);
  ATTEND_CHECK(args.heads * args.head_dim <= args.stride);
  const RotateRowKernel kernel = KernelFor<RotateRowKernel>(
      compute.isa(), baseline::RotateRow, avx2::RotateRow, avx512::RotateRow);
  const int half = table.dims / 2;
  const auto rotate = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      const int position = args.positions[r];
      ATTEND_CHECK(0 <= position && position < table.max_positions);
      const size_t at = static_cast<size_t>(position) * half;
      kernel(args.values + static_cast<size_t>(r) * args.stride, args.heads,
             args.head_dim, half, table.cos + at, table.sin + at);
    }
  };
  const int rows = static_cast<int>(args.positions.size());
  if (static_cast<size_t>(rows) * args.heads * table.dims <= kSmall) {
    return rotate({0, rows});
  }
  compute.team().Run(
      [&](int member) { rotate(Share(rows, member, compute.team().size())); });
}

}  // namespace attend
