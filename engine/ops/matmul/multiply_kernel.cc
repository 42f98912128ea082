#include "engine/ops/matmul/multiply_kernel.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "engine/ops/matmul/amx_kernel.h"
#include "engine/ops/matmul/group_kernel.h"
#include "engine/ops/matmul/int8_kernel.h"
#include "engine/ops/simd/simd.h"

// Each type of numbers says how many units one sum has, what the products of
// two units add to a sum, and how sums are added.

ATTEND_AVX2_BEGIN
namespace f32 {
constexpr int kSummed = 512;
inline Vec AddProduct(Vec x, Vec weight, Vec sum) {
  sum = MulAdd(x, weight, sum);
  // Sums in the order of the source: see Keep() in group_kernel.cc.
  asm("" : "+x"(sum));
  return sum;
}
inline Vec AddSums(Vec a, Vec b) { return Add(a, b); }
#include "engine/ops/matmul/multiply_kernel.inc"
}  // namespace f32
ATTEND_AVX2_END

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

namespace attend {

MultiplyKernel MultiplyKernelFor(ComputeType dtype, int k, Isa isa) {
  if (dtype == ComputeType::kInt8) return Int8KernelFor(isa);
  if (IsGrouped(dtype)) return GroupKernelFor(dtype, isa);
  if (k * BytesOf(dtype) % kUnitBytes != 0) return nullptr;
  if (dtype == ComputeType::kF32) {
    return isa >= Isa::kAvx512 ? avx512::f32::Multiply
           : isa >= Isa::kAvx2 ? avx2::f32::Multiply
                               : nullptr;
  }
  if (isa >= Isa::kAmx) return MultiplyBf16ByTiles;
  return isa >= Isa::kAvx512Bf16 ? avx512::bf16::Multiply : nullptr;
}

}  // namespace attend
