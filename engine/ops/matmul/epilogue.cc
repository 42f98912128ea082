#include "engine/ops/matmul/epilogue.h"

#include <cstddef>

#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to this many numbers, waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

// Calls f(head, h) for each head of each row, number h of the row.
template <typename F>
void ForEachHead(Compute& compute, const HeadRows& heads, F f) {
  ATTEND_CHECK(heads.rows >= 0 && heads.heads > 0 && heads.head_dim > 0);
  ATTEND_CHECK(heads.heads * heads.head_dim <= heads.stride);
  const auto run = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      float* head = heads.values + static_cast<size_t>(r) * heads.stride;
      for (int h = 0; h < heads.heads; ++h, head += heads.head_dim) {
        f(head, h);
      }
    }
  };
  const size_t size =
      static_cast<size_t>(heads.rows) * heads.heads * heads.head_dim;
  if (size <= kSmall) return run({0, heads.rows});
  compute.team().Run([&](int member) {
    run(Share(heads.rows, member, compute.team().size()));
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

void NormalizeHeads(Compute& compute, const HeadRows& heads,
                    const NormWeights& norm, bool by_head) {
  const OpTimer timer({.name = "norm_heads", .rows = heads.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachHead(compute, heads, [&](float* head, int h) {
    NormWeights own = norm;
    if (by_head) {
      own.gamma += h * heads.head_dim;
      if (own.beta != nullptr) own.beta += h * heads.head_dim;
    }
    kernels.normalize(head, own, heads.head_dim, head);
  });
}

void SpreadHeads(Compute& compute, const HeadRows& heads) {
  const OpTimer timer({.name = "spread_heads", .rows = heads.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachHead(compute, heads,
              [&](float* head, int) { kernels.spread(head, heads.head_dim); });
}

}  // namespace attend
