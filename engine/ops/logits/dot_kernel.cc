#include "engine/ops/logits/dot_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/ops/exec/number_group.h"
#include "engine/ops/simd/kernel_for.h"
#include "engine/ops/simd/simd.h"

ATTEND_BASELINE_BEGIN
#include "engine/ops/logits/dot_kernel.inc"
#include "engine/ops/logits/dot_numbers.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/logits/dot_kernel.inc"
#include "engine/ops/logits/dot_numbers.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/logits/dot_kernel.inc"
#include "engine/ops/logits/dot_numbers.inc"

// Products and sums in f32. Of 32 numbers, those with even places come first.
struct Bf16 {
  Bf16(const char* row, int /*cols*/) : src(row) {}

  using Sum = Vec;
  static constexpr int kStepNumbers = 2 * kLanes;
  static constexpr int kStepBytes = sizeof(uint16_t) * kStepNumbers;
  static int Steps(int cols) { return cols / kStepNumbers; }
  static Sum Nothing() { return Zero(); }
  static Vec Even(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, pairs, 16));
  }
  static Vec Odd(__m512i pairs) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(pairs, _mm512_set1_epi32(0xffff << 16)));
  }
  static void AddPairs(__m512i x, __m512i weights, Sum& sum) {
    sum = MulAdd(Even(x), Even(weights), sum);
    sum = MulAdd(Odd(x), Odd(weights), sum);
  }
  void Add(int step, const char* weights, Sum& sum) const {
    AddPairs(_mm512_loadu_si512(src + step * kStepBytes),
             _mm512_loadu_si512(weights), sum);
  }
  void AddRest(int step, const char* weights, int n, Sum& sum) const {
    const __mmask32 first = (uint32_t{1} << n) - 1;
    AddPairs(_mm512_maskz_loadu_epi16(first, src + step * kStepBytes),
             _mm512_maskz_loadu_epi16(first, weights), sum);
  }
  static float Total(Sum sum) { return SumOfLanes(sum); }

  const char* src;
};
ATTEND_AVX512_END

ATTEND_AVX512_VNNI_BEGIN
namespace vnni {
#include "engine/ops/logits/dot_kernel.inc"

// Rows of an operand and of weights. Exact sums of integers in a group, and
// sums of groups in their order.
struct Int8 {
  Int8(const char* row, int cols)
      : codes(Int8Row::CodesOf(row, 0)),
        groups(Int8Row::GroupsOf(row, cols)),
        count(cols) {}

  using Sum = float;
  static constexpr int kStepNumbers = Int8Group::kNumbers;
  static constexpr int kStepBytes = Int8Group::kNumbers;
  static int Steps(int cols) { return GroupsOf(ComputeType::kInt8, cols); }
  static Sum Nothing() { return 0; }
  void Add(int step, const char* weights, Sum& total) const {
    const Int8Group& a = groups[step];
    const int first = step * kStepNumbers;
    const int8_t* const x = codes + first;
    const Int8Weights& b =
        Int8Row::GroupsOf<Int8Weights>(weights - first, count)[step];
    const int numbers = std::min(kStepNumbers, count - first);
    __m512i sum = _mm512_setzero_si512();
    for (int i = 0; i < numbers; i += 64) {
      sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(weights + i),
                                _mm512_loadu_si512(x + i));
    }
    const int product = _mm512_reduce_add_epi32(sum) + b.zero * a.negated_sum();
    total = std::fma(static_cast<float>(product) * b.scale, a.scale, total);
  }
  void AddRest(int, const char*, int, Sum&) const {}
  static float Total(Sum total) { return total; }

  const int8_t* codes;
  const Int8Group* groups;
  int count;  // elements
};
}  // namespace vnni
ATTEND_AVX512_VNNI_END

namespace attend {

DotKernel DotKernelFor(ComputeType dtype, Isa isa) {
  switch (dtype) {
    case ComputeType::kF32:
      return KernelFor(isa, &baseline::Dot<baseline::F32>,
                       &avx2::Dot<avx2::F32>, &avx512::Dot<avx512::F32>);
    case ComputeType::kBf16:
      return avx512::Dot<avx512::Bf16>;
    case ComputeType::kInt8:
      return avx512::vnni::Dot<avx512::vnni::Int8>;
    case ComputeType::kW8:
      return KernelFor(isa, &baseline::Dot<baseline::Groups<8>>,
                       &avx2::Dot<avx2::Groups<8>>,
                       &avx512::Dot<avx512::Groups<8>>);
    case ComputeType::kInt4:
      break;
  }
  return KernelFor(isa, &baseline::Dot<baseline::Groups<4>>,
                   &avx2::Dot<avx2::Groups<4>>,
                   &avx512::Dot<avx512::Groups<4>>);
}

}  // namespace attend
