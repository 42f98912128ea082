#include "engine/ops/logits_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/simd.h"

namespace attend {
namespace {

// The order of tokens; NaN is below everything else.
bool Better(const TokenScore& a, const TokenScore& b) {
  const bool a_is_nan = std::isnan(a.score);
  const bool b_is_nan = std::isnan(b.score);
  if (a_is_nan != b_is_nan) return b_is_nan;
  if (!a_is_nan && a.score != b.score) return a.score > b.score;
  return a.id < b.id;
}

}  // namespace
}  // namespace attend

ATTEND_BASELINE_BEGIN
#include "engine/ops/logits_kernel.inc"
ATTEND_BASELINE_END

ATTEND_AVX2_BEGIN
#include "engine/ops/logits_kernel.inc"
ATTEND_AVX2_END

ATTEND_AVX512_BEGIN
#include "engine/ops/logits_kernel.inc"
ATTEND_AVX512_END

namespace attend {

LogitsKernels LogitsKernels::For(Isa isa) {
  if (isa >= Isa::kAvx512) return {avx512::LogSumExp, avx512::Top};
  if (isa >= Isa::kAvx2) return {avx2::LogSumExp, avx2::Top};
  return {baseline::LogSumExp, baseline::Top};
}

}  // namespace attend
