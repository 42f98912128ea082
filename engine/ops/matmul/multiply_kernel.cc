#include "engine/ops/matmul/multiply_kernel.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#include "engine/ops/matmul/amx_kernel.h"
#include "engine/ops/matmul/group_kernel.h"
#include "engine/ops/simd/simd.h"

// Each type of numbers says how many units one sum has, what the products of
// two units add to a sum, and how sums are added.

ATTEND_AVX512_BEGIN
namespace f32 {
constexpr int kSummed = 512;
inline Vec AddProduct(Vec x, Vec weight, Vec sum) {
  return MulAdd(x, weight, sum);
}
inline Vec AddSums(Vec a, Vec b) { return Add(a, b); }
#include "engine/ops/matmul/multiply_kernel.inc"
}  // namespace f32
ATTEND_AVX512_END

ATTEND_AVX512_BF16_BEGIN
namespace bf16 {
constexpr int kSummed = 256;
inline Vec AddProduct(Vec x, Vec weight, Vec sum) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x),
                          reinterpret_cast<__m512bh>(weight));
}
inline Vec AddSums(Vec a, Vec b) { return Add(a, b); }
#include "engine/ops/matmul/multiply_kernel.inc"
}  // namespace bf16
ATTEND_AVX512_BF16_END

ATTEND_AVX512_VNNI_BEGIN
namespace int8 {
// Whole numbers: their sums are exact in any order.
constexpr int kSummed = std::numeric_limits<int>::max();
inline Vec AddProduct(Vec x, Vec weight, Vec sum) {
  return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(sum),
                                                 _mm512_castps_si512(x),
                                                 _mm512_castps_si512(weight)));
}
inline Vec AddSums(Vec a, Vec b) {
  return _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}
#include "engine/ops/matmul/multiply_kernel.inc"
}  // namespace int8
ATTEND_AVX512_VNNI_END

namespace attend {

namespace {

// For very few rows, whose time is that of reading the weights, vectors are
// faster. Sums of whole numbers are the same.
void MultiplyInt8WithAmx(const MultiplyArgs& args) {
  constexpr int kRowsWorthTiles = 3;
  if (args.rows < kRowsWorthTiles) return avx512::int8::Multiply(args);
  MultiplyInt8ByTiles(args);
}

}  // namespace

MultiplyKernel MultiplyKernelFor(ComputeType dtype, int k, Isa isa) {
  if (IsGrouped(dtype)) return GroupKernelFor(dtype, isa);
  if (k * BytesOf(dtype) % kUnitBytes != 0) return nullptr;
  switch (dtype) {
    case ComputeType::kF32:
      return isa >= Isa::kAvx512 ? avx512::f32::Multiply : nullptr;
    case ComputeType::kBf16:
      if (isa >= Isa::kAmx) return MultiplyBf16ByTiles;
      return isa >= Isa::kAvx512Bf16 ? avx512::bf16::Multiply : nullptr;
    case ComputeType::kInt8:
      if (isa >= Isa::kAmx) return MultiplyInt8WithAmx;
      return isa >= Isa::kAvx512Vnni ? avx512::int8::Multiply : nullptr;
    case ComputeType::kW8:
    case ComputeType::kInt4:
      break;
  }
  return nullptr;
}

}  // namespace attend
