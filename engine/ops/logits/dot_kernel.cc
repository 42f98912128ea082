#include "engine/ops/logits/dot_kernel.h"

#include <algorithm>
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
  using Result = float;
  using Sum = Vec;
  static constexpr int kStepNumbers = 2 * kLanes;
  static constexpr int kStepBytes = sizeof(uint16_t) * kStepNumbers;
  static constexpr int kSrcStepBytes = kStepBytes;
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
  static void Add(const char* x, const char* weights, Sum& sum) {
    AddPairs(_mm512_loadu_si512(x), _mm512_loadu_si512(weights), sum);
  }
  static void AddRest(const char* x, const char* weights, int n, Sum& sum) {
    const __mmask32 first = (uint32_t{1} << n) - 1;
    AddPairs(_mm512_maskz_loadu_epi16(first, x),
             _mm512_maskz_loadu_epi16(first, weights), sum);
  }
  static float Total(Sum sum) { return SumOfLanes(sum); }
};
ATTEND_AVX512_END

ATTEND_AVX512_VNNI_BEGIN
namespace vnni {
#include "engine/ops/logits/dot_kernel.inc"

struct Int8 {
  using Result = int32_t;
  using Sum = __m512i;
  static constexpr int kStepNumbers = 64;
  static constexpr int kStepBytes = 64;
  static constexpr int kSrcStepBytes = kStepBytes;
  static int Steps(int cols) { return cols / kStepNumbers; }
  static Sum Nothing() { return _mm512_setzero_si512(); }
  static void Add(const char* x, const char* weights, Sum& sum) {
    sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(x),
                              _mm512_loadu_si512(weights));
  }
  static void AddRest(const char* x, const char* weights, int n, Sum& sum) {
    const __mmask64 first = (uint64_t{1} << n) - 1;
    sum = _mm512_dpbusd_epi32(sum, _mm512_maskz_loadu_epi8(first, x),
                              _mm512_maskz_loadu_epi8(first, weights));
  }
  static int32_t Total(Sum sum) {
    int32_t lanes[kLanes];
    _mm512_storeu_si512(lanes, sum);
    int32_t total = 0;
    for (const int32_t lane : lanes) total += lane;
    return total;
  }
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
