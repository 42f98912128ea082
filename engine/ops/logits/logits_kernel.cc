#include "engine/ops/logits/logits_kernel.h"

#include <algorithm>
#include <limits>

#include "engine/ops/simd/kernel_for.h"
#include "engine/ops/simd/simd.h"

ATTEND_BASELINE_BEGIN
#include "engine/ops/logits/logits_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/logits/logits_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/logits/logits_kernel.inc"
ATTEND_AVX512_END

namespace attend {
namespace {

// Calls fold(tile, first column) for each tile of a row.
template <typename Fold>
void ForEachTile(absl::Span<const float> row, Fold fold) {
  for (size_t begin = 0; begin < row.size(); begin += kLogitsTile) {
    fold(row.subspan(begin, kLogitsTile), static_cast<int>(begin));
  }
}

}  // namespace

LogitsKernels LogitsKernels::For(Isa isa) {
  return KernelFor<LogitsKernels>(
      isa,
      {baseline::Max, baseline::SumExp, baseline::Offer, baseline::OfferAllowed,
       baseline::Cap},
      {avx2::Max, avx2::SumExp, avx2::Offer, avx2::OfferAllowed, avx2::Cap},
      {avx512::Max, avx512::SumExp, avx512::Offer, avx512::OfferAllowed,
       avx512::Cap});
}

void TopList::Offer(const TokenScore& token) {
  if (!full()) {
    data_[size_++] = token;
    std::push_heap(data_, data_ + size_, kRanksBefore);
  } else if (capacity_ > 0 && kRanksBefore(token, data_[0])) {
    std::pop_heap(data_, data_ + size_, kRanksBefore);
    data_[size_ - 1] = token;
    std::push_heap(data_, data_ + size_, kRanksBefore);
  }
}

void TopList::Sort() { std::sort_heap(data_, data_ + size_, kRanksBefore); }

void TileSums::Add(const TileSum& tile) {
  if (tile.sum == 0) return;
  sum_ += tile.sum * std::exp(static_cast<double>(tile.max) - max_);
}

float TileSums::LogSumExp() const {
  if (std::isinf(max_)) return max_;
  return static_cast<float>(max_ + std::log(sum_));
}

TileSum SumTile(const LogitsKernels& kernels, absl::Span<const float> tile,
                float max) {
  return {max, std::isinf(max) ? 0 : kernels.sum_exp(tile, max)};
}

float LogSumExp(const LogitsKernels& kernels, absl::Span<const float> row) {
  TileSums sums(kernels.max(row));
  ForEachTile(row, [&](absl::Span<const float> tile, int) {
    sums.Add(SumTile(kernels, tile, kernels.max(tile)));
  });
  return sums.LogSumExp();
}

void Top(const LogitsKernels& kernels, absl::Span<const float> row,
         absl::Span<TokenScore> out) {
  if (out.empty()) return;
  TopList list(out.data(), static_cast<int>(out.size()));
  ForEachTile(row, [&](absl::Span<const float> tile, int begin) {
    kernels.offer(tile, begin, kernels.max(tile), list);
  });
  list.Sort();
}

size_t TopAllowed(const LogitsKernels& kernels, absl::Span<const float> row,
                  const uint32_t* allowed, absl::Span<TokenScore> out) {
  if (out.empty()) return 0;
  TopList list(out.data(), static_cast<int>(out.size()));
  ForEachTile(row, [&](absl::Span<const float> tile, int begin) {
    kernels.offer_allowed(tile, begin, allowed + begin / 32, list);
  });
  list.Sort();
  return list.tokens().size();
}

}  // namespace attend
