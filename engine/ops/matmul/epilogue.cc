#include "engine/ops/matmul/epilogue.h"

#include <algorithm>
#include <cstddef>

#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to this many numbers, waking the team costs more than it saves.
constexpr size_t kSmall = 1 << 12;

// Rows that are normalized together: few enough to stay in L1.
constexpr int kTogether = 4;

// Calls f(first) for each row, whose heads lie together from `first` on.
template <typename F>
void ForEachRow(Compute& compute, const HeadRows& heads, F f) {
  ATTEND_CHECK(heads.rows >= 0 && heads.heads > 0 && heads.head_dim > 0);
  ATTEND_CHECK(heads.heads * heads.head_dim <= heads.stride);
  const auto run = [&](Range rows) {
    for (int r = rows.begin; r < rows.end; ++r) {
      f(heads.values + static_cast<size_t>(r) * heads.stride);
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
    for (int first = share.begin; first < share.end; first += kTogether) {
      const int end = std::min(share.end, first + kTogether);
      kernels.normalize(src.row(first), norm, end - first, src.cols,
                        dst.row(first));
      if (operand.data == nullptr || operand.data == dst.data) continue;
      kernels.make_operand(dst.row(first), operand, {first, end},
                           {0, dst.cols});
    }
  });
}

void NormalizeHeads(Compute& compute, const HeadRows& heads,
                    const NormWeights& norm, bool by_head) {
  const OpTimer timer({.name = "norm_heads", .rows = heads.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachRow(compute, heads, [&](float* row) {
    if (!by_head) {
      return kernels.normalize(row, norm, heads.heads, heads.head_dim, row);
    }
    NormWeights own = norm;
    for (int h = 0; h < heads.heads; ++h, row += heads.head_dim) {
      kernels.normalize(row, own, 1, heads.head_dim, row);
      own.gamma += heads.head_dim;
      if (own.beta != nullptr) own.beta += heads.head_dim;
    }
  });
}

void SpreadHeads(Compute& compute, const HeadRows& heads) {
  const OpTimer timer({.name = "spread_heads", .rows = heads.rows});
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  ForEachRow(compute, heads, [&](float* row) {
    for (int h = 0; h < heads.heads; ++h, row += heads.head_dim) {
      kernels.spread(row, heads.head_dim);
    }
  });
}

}  // namespace attend
