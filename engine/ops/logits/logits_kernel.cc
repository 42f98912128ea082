#include "engine/ops/logits/logits_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>

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

auto AllTokens(absl::Span<const float> row) {
  return std::views::iota(0, static_cast<int>(row.size())) |
         std::views::transform(
             [row](int id) { return TokenScore{.id = id, .score = row[id]}; });
}

// The best of `tokens`, best first; returns how many there are.
template <typename Tokens>
size_t SortInto(Tokens tokens, absl::Span<TokenScore> out) {
  const auto end =
      std::ranges::partial_sort_copy(tokens, out, kRanksBefore).out;
  return end - out.begin();
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
  if (out.size() > TopList::kMaxTokens) {
    SortInto(AllTokens(row), out);
    return;
  }
  uint64_t ranks[TopList::kMaxTokens];
  TopList list(ranks, static_cast<int>(out.size()));
  ForEachTile(row, [&](absl::Span<const float> tile, int begin) {
    kernels.offer(tile, begin, kernels.max(tile), list);
  });
  list.Copy(out.data());
}

size_t TopAllowed(const LogitsKernels& kernels, absl::Span<const float> row,
                  const uint32_t* allowed, absl::Span<TokenScore> out) {
  if (out.empty()) return 0;
  if (out.size() > TopList::kMaxTokens) {
    return SortInto(AllTokens(row) | std::views::filter([=](TokenScore token) {
                      return allowed[token.id / 32] >> (token.id % 32) & 1;
                    }),
                    out);
  }
  uint64_t ranks[TopList::kMaxTokens];
  TopList list(ranks, static_cast<int>(out.size()));
  ForEachTile(row, [&](absl::Span<const float> tile, int begin) {
    kernels.offer_allowed(tile, begin, allowed + begin / 32, list);
  });
  return list.Copy(out.data());
}

}  // namespace attend
