#include "engine/ops/matmul/epilogue.h"

#include <cstddef>

#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to this many numbers, waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

// Calls f(head) for each head of each row.
template <typename Args, typename F>
void ForEachHead(Compute& compute, const Args& args, F f) {
  ATTEND_CHECK(args.rows >= 0 && args.heads > 0 && args.head_dim > 0);
  ATTEND_CHECK(args.heads * args.head_dim <= args.stride);
  const auto run = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      float* head = args.values + static_cast<size_t>(r) * args.stride;
      for (int h = 0; h < args.heads; ++h, head += args.head_dim) f(head);
    }
  };
  const size_t size =
      static_cast<size_t>(args.rows) * args.heads * args.head_dim;
  if (size <= kSmall) return run({0, args.rows});
  compute.team().Run([&](int member) {
    run(Share(args.rows, member, compute.team().size()));
  });
}

}  // namespace

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

void NormalizeHeads(Compute& compute, const NormalizeHeadsArgs& args) {
  const OpTimer timer({.name = "norm_heads", .rows = args.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachHead(compute, args, [&](float* head) {
    kernels.normalize(head, args.norm, args.head_dim, head);
  });
}

void SpreadHeads(Compute& compute, const SpreadHeadsArgs& args) {
  const OpTimer timer({.name = "spread_heads", .rows = args.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachHead(compute, args,
              [&](float* head) { kernels.spread(head, args.head_dim); });
}

}  // namespace attend
