// The product of rows and packed weights in f32. With few rows it is bound by
// the memory of the weights. So the kernel prefetches evenly, some lines with
// each k, while it multiplies weights that have come. (oneDNN's kernels do one
// after the other.)
//
// Order of sums: kSummed products are summed in ascending order of k, beginning
// with 0; then these sums are added in ascending order.

#include "engine/ops/matmul/f32_kernel.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "engine/ops/simd/simd.h"

ATTEND_AVX512_BEGIN

namespace {

// Products of one sum.
constexpr int kSummed = 512;
// All rows are multiplied with the weights of kStep k before the next weights:
// so the weights stay in the first cache level.
constexpr int kStep = 64;
// How far ahead the kernel prefetches, in floats of the weights.
constexpr int kAhead = 64 * kF32BlockColumns;
constexpr int kVectors = kF32BlockColumns / kLanes;
constexpr int kRowsAtOnce = 6;

// Adds the products of R rows over `count` k to sums; those of row r are at
// sums + r * kF32BlockColumns. With each k it prefetches L lines from `ahead`
// on.
template <int R, int L>
inline void AddProducts(const float* src, int stride, const float* weights,
                        int count, bool first, const float* ahead,
                        float* sums) {
  Vec sum[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const float* const from = sums + r * kF32BlockColumns + v * kLanes;
      sum[r][v] = first ? Zero() : Load(from);
    }
  }
  for (int d = 0; d < count; ++d, weights += kF32BlockColumns) {
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l, ahead += kLanes) {
      _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T1);
    }
    Vec weight[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) weight[v] = Load(weights + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec x = Broadcast(src[ptrdiff_t{r} * stride + d]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = MulAdd(x, weight[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      Store(sums + r * kF32BlockColumns + v * kLanes, sum[r][v]);
    }
  }
}

using Adder = void (*)(const float* src, int stride, const float* weights,
                       int count, bool first, const float* ahead, float* sums);
// Indexed by lines. The four lines of a k are distributed over the groups of
// rows as 4, 2 + 2, 2 + 1 + 1 or 1 + 1 + 1 + 1.
template <int R>
inline constexpr Adder kAdders[] = {AddProducts<R, 0>, AddProducts<R, 1>,
                                    AddProducts<R, 2>, nullptr,
                                    AddProducts<R, 4>};
constexpr const Adder* kAddersOfRows[] = {nullptr,    kAdders<1>, kAdders<2>,
                                          kAdders<3>, kAdders<4>, kAdders<5>,
                                          kAdders<6>};
static_assert(std::size(kAddersOfRows) == kRowsAtOnce + 1 && kVectors == 4);

// The products of all rows with the weights of `count` k.
void AddStep(const F32Args& a, const float* src, const float* weights,
             int count, bool first, float* sums) {
  const int groups = (a.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  const float* ahead = weights + kAhead;
  for (int group = 0, row = 0; group < groups; ++group) {
    const int rows = (a.rows - row) / (groups - group);
    const int lines = kVectors / groups + (group < kVectors % groups);
    kAddersOfRows[rows][lines](src + ptrdiff_t{row} * a.k, a.k, weights, count,
                               first, ahead, sums + row * kF32BlockColumns);
    ahead += ptrdiff_t{lines} * count * kLanes;
    row += rows;
  }
}

// Adds `count` floats, in whole vectors, to the totals, or begins the totals.
void AddTo(float* totals, const float* sums, int count, bool first) {
  for (int i = 0; i < count; i += kLanes) {
    const Vec sum = Load(sums + i);
    Store(totals + i, first ? sum : Add(Load(totals + i), sum));
  }
}

// The products of all rows with one block, in totals [rows][kF32BlockColumns].
void MultiplyBlock(const F32Args& a, const float* weights, float* totals) {
  alignas(64) float sums[kF32Rows * kF32BlockColumns];
  for (int begin = 0; begin < a.k; begin += kSummed) {
    const int end = std::min(a.k, begin + kSummed);
    for (int d = begin; d < end; d += kStep) {
      AddStep(a, a.src + d, weights + ptrdiff_t{d} * kF32BlockColumns,
              std::min(kStep, end - d), d == begin, sums);
    }
    AddTo(totals, sums, a.rows * kF32BlockColumns, begin == 0);
  }
}

}  // namespace

void MultiplyF32(const F32Args& a) {
  alignas(64) float totals[kF32Rows * kF32BlockColumns];
  for (int column = 0; column < a.n; column += kF32BlockColumns) {
    MultiplyBlock(a, a.weights + ptrdiff_t{column} * a.padded_k, totals);
    const int columns = std::min(kF32BlockColumns, a.n - column);
    for (int row = 0; row < a.rows; ++row) {
      std::copy_n(totals + row * kF32BlockColumns, columns,
                  a.dst + ptrdiff_t{row} * a.n + column);
    }
  }
}

ATTEND_AVX512_END
