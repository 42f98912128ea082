#include "engine/ops/matmul/int8_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "engine/ops/exec/number_group.h"
#include "engine/ops/simd/amx_tiles.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_VNNI_BEGIN
namespace {

constexpr size_t kLine = Int8Row::kLine;
constexpr int kVectors = kGroupColumns / kLanes;
constexpr int kGroupUnits = Int8Group::kNumbers / Int8WeightGroup::kUnitNumbers;
constexpr int kStepUnits =
    Int8WeightGroup::kStepNumbers / Int8WeightGroup::kUnitNumbers;

// A group of 64 columns of weights, and the same group of the rows.
struct Slice {
  const char* codes = nullptr;   // of the first row
  const char* groups = nullptr;  // of the same
  ptrdiff_t stride = 0;          // from row to row, in bytes
  const char* weights = nullptr;
  int units = 0;

  int steps() const { return (units + kStepUnits - 1) / kStepUnits; }
  size_t bytes() const {
    return Int8WeightGroup::BytesOf(units * Int8WeightGroup::kUnitNumbers);
  }
  const Int8Group* GroupsOf(int row) const {
    return reinterpret_cast<const Int8Group*>(groups + row * stride);
  }
  // Goes on to the row so many behind.
  void Skip(int rows) {
    codes += rows * stride;
    groups += rows * stride;
  }
};

// 64 sums of each row: those of the groups before, and where the new ones go.
// Strides are from row to row.
struct Totals {
  const float* from = nullptr;
  ptrdiff_t from_stride = 0;
  float* to = nullptr;
  ptrdiff_t to_stride = 0;

  Totals Row(int row) const {
    return {.from = from + row * from_stride,
            .from_stride = from_stride,
            .to = to + row * to_stride,
            .to_stride = to_stride};
  }
};

// What a row has before its first group.
alignas(64) constexpr float kNothing[kGroupColumns] = {};

// Integers stand here as floats, for which g++ 12 makes better code.

// A float has the sum of a group exactly.
static_assert(Int8Group::kNumbers * 127 * 255 <= 1 << 24);
// So have 16 bits both factors of the instruction that corrects it by the zero.
static_assert(Int8Group::kHighUnit * 255 <= INT16_MAX);
static_assert(Int8Group::kNumbers * 127 / Int8Group::kHighUnit <= INT16_MAX);

// Of 16 columns of a group, from `column` on.
struct Columns {
  Columns() {}
  Columns(const char* weights, int column)
      : scales(Load(reinterpret_cast<const uint16_t*>(weights) + column)),
        zeros(_mm512_mullo_epi32(
            _mm512_maskz_cvtepu8_epi32(
                kAll, _mm_load_si128(reinterpret_cast<const __m128i*>(
                          weights + Int8WeightGroup::kZeros + column))),
            _mm512_set1_epi32(Int8Group::kHighUnit << 16 | 1))) {}

  Vec scales;
  __m512i zeros;  // and kHighUnit times as much in the upper halves
};

// The sum of a group's products becomes a number, and is added to a total.
inline Vec AddScaled(Vec sum, const Columns& columns, const Int8Group& x,
                     Vec total) {
  int32_t negated;  // both halves
  std::memcpy(&negated, &x.negated_low, sizeof(negated));
  const __m512i exact = _mm512_dpwssd_epi32(
      _mm512_castps_si512(sum), columns.zeros, _mm512_set1_epi32(negated));
  const Vec scaled = Mul(_mm512_maskz_cvtepi32_ps(kAll, exact), columns.scales);
  return MulAdd(scaled, Broadcast(x.scale), total);
}

constexpr int kRowsAtOnce = 6;

inline Vec AddProducts(Vec weights, Vec x, Vec sum) {
  return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(sum),
                                                 _mm512_castps_si512(weights),
                                                 _mm512_castps_si512(x)));
}

// Adds the products of R rows to their totals. With each unit it prefetches L
// lines from `ahead` on.
template <int R, int L>
void AddRows(const Slice& slice, const char* ahead, const Totals& totals) {
  const char* const src = slice.codes;
  const ptrdiff_t stride = slice.stride;
  Vec sums[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = Zero();
  }
  const char* weights = slice.weights + Int8WeightGroup::kCodes;
  for (int u = 0; u < slice.units; ++u, weights += Int8WeightGroup::kUnit) {
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l, ahead += kLine) {
      _mm_prefetch(ahead, _MM_HINT_T1);
    }
    Vec weight[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      weight[v] = Load(reinterpret_cast<const float*>(weights + v * kLine));
      // A register: g++ would read the memory again for each row.
      if (R > 1) asm("" : "+v"(weight[v]));
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float four;
      std::memcpy(&four, src + r * stride + 4 * u, sizeof(four));
      const Vec x = Broadcast(four);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = AddProducts(weight[v], x, sums[r][v]);
      }
    }
  }
  // Other uses of the sums begin here: without this g++ 12 keeps a second copy
  // of each, in memory, through the loop above, which takes 1.5 times as long.
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) asm("" : "+v"(sums[r][v]));
  }
  const Totals all = totals;  // a copy: stores do not change it
  const Int8Group* groups[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) groups[r] = slice.GroupsOf(r);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const Columns columns(slice.weights, v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Totals row = all.Row(r);
      Store(row.to + v * kLanes, AddScaled(sums[r][v], columns, *groups[r],
                                           Load(row.from + v * kLanes)));
    }
  }
}

using Adder = void (*)(const Slice& slice, const char* ahead,
                       const Totals& totals);
// Indexed by lines. The four lines of a unit are distributed over the groups of
// rows as 4, 2 + 2, 2 + 1 + 1 or 1 + 1 + 1 + 1.
template <int R>
inline constexpr Adder kAdders[] = {AddRows<R, 0>, AddRows<R, 1>, AddRows<R, 2>,
                                    nullptr, AddRows<R, 4>};
constexpr const Adder* kAddersOfRows[] = {nullptr,    kAdders<1>, kAdders<2>,
                                          kAdders<3>, kAdders<4>, kAdders<5>,
                                          kAdders<6>};
static_assert(std::size(kAddersOfRows) == kRowsAtOnce + 1 && kVectors == 4);

// Adds the products of all rows with a group of a block to their totals.
void AddGroup(const Slice& slice, int rows, const Totals& totals) {
  const int parts = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  // Parts of the rows read the same weights again: they fetch the next group.
  const char* ahead =
      slice.weights + (parts == 1 ? kAheadOfFewRows : slice.bytes());
  for (size_t line = 0; line < Int8WeightGroup::kCodes; line += kLine) {
    _mm_prefetch(ahead + line, _MM_HINT_T1);
  }
  ahead += Int8WeightGroup::kCodes;
  Slice next = slice;
  for (int part = 0, row = 0; part < parts; ++part) {
    const int count = (rows - row) / (parts - part);
    const int lines = kVectors / parts + (part < kVectors % parts);
    kAddersOfRows[count][lines](next, ahead, totals.Row(row));
    ahead += kLine * lines * slice.units;
    next.Skip(count);
    row += count;
  }
}

}  // namespace

#include "engine/ops/matmul/int8_tiles.inc"

namespace {

using SliceAdder = void (*)(const Slice& slice, int rows, const Totals& totals);

template <SliceAdder kAddSlice>
void MultiplyInt8(const MultiplyArgs& a) {
  alignas(64) float memory[kMultiplyRows * kGroupColumns];
  const auto* const src = static_cast<const char*>(a.src);
  const int cols = a.units * Int8WeightGroup::kUnitNumbers;
  const int groups = (a.units + kGroupUnits - 1) / kGroupUnits;
  const char* weights = static_cast<const char*>(a.weights);
  const int dst_stride = a.dst_stride != 0 ? a.dst_stride : a.n;
  for (int column = 0; column < a.n; column += kGroupColumns) {
    const int columns = std::min(kGroupColumns, a.n - column);
    const bool is_whole = columns == kGroupColumns;
    Totals totals = {
        .from = kNothing, .to = memory, .to_stride = kGroupColumns};
    if (is_whole && a.first != nullptr) totals.from = a.first + column;
    const bool is_precise = a.precise.begin <= column && column < a.precise.end;
    for (int plane = is_precise ? 2 : 1; plane > 0; --plane) {
      for (int g = 0; g < groups; ++g) {
        const int units = std::min(kGroupUnits, a.units - g * kGroupUnits);
        if (plane == 1 && g + 1 == groups && is_whole) {
          totals.to = a.dst + column;
          totals.to_stride = dst_stride;
        }
        kAddSlice(
            {.codes = src + g * Int8Group::kNumbers,
             .groups = src + Int8Row::CodeBytes(cols) + g * sizeof(Int8Group),
             .stride = static_cast<ptrdiff_t>(Int8Row::BytesOf(cols)),
             .weights = weights,
             .units = units},
            a.rows, totals);
        totals.from = memory;
        totals.from_stride = kGroupColumns;
        weights +=
            Int8WeightGroup::BytesOf(units * Int8WeightGroup::kUnitNumbers);
      }
    }
    if (is_whole) continue;
    for (int row = 0; row < a.rows; ++row) {
      const float* const sums = memory + row * kGroupColumns;
      float* const dst = a.dst + ptrdiff_t{row} * dst_stride + column;
      const float* const first =
          a.first == nullptr ? kNothing : a.first + column;
      for (int i = 0; i < columns; ++i) dst[i] = first[i] + sums[i];
    }
  }
}

void MultiplyInt8WithAmx(const MultiplyArgs& a) {
  // For very few rows, whose time is that of reading the weights, vectors are
  // faster.
  constexpr int kRowsWorthTiles = 3;
  if (a.rows < kRowsWorthTiles) return MultiplyInt8<AddGroup>(a);
  const amx::Tiles configured(ShapesOf(amx::HeightOf(a.rows)));
  MultiplyInt8<AddGroupByTiles>(a);
}

}  // namespace
ATTEND_AVX512_VNNI_END

namespace attend {

MultiplyKernel Int8KernelFor(Isa isa) {
  if (isa >= Isa::kAmx) return avx512::MultiplyInt8WithAmx;
  return isa >= Isa::kAvx512Vnni ? avx512::MultiplyInt8<avx512::AddGroup>
                                 : nullptr;
}

}  // namespace attend
