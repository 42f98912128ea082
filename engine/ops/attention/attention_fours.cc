// The attention kernel over keys and values that lie in fours of int8 (see
// KvLayout).
//
// Differences to attention_kernel.inc:
// * queries, and the weights of a span of keys, are rounded to 16 bits: one
//   instruction multiplies four bytes a lane, and adds the products;
// * sums of a span are whole numbers, so that they are exact: a row's bits do
//   not depend on other rows.
//
// One row is bound by the memory of keys and values, many rows by
// multiplications, of which there are half as many as in f32. Queries that see
// few keys have functions of their own, since what takes time there is what one
// result waits for.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/ops/attention/attention_kernel.h"
#include "engine/ops/attention/attention_unroll.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_VNNI_BEGIN

// Each of these uses the ones above it.
// clang-format off
#include "engine/ops/attention/attention_ahead.inc"
#include "engine/ops/attention/attention_softmax.inc"
#include "engine/ops/attention/attention_sums.inc"
#include "engine/ops/attention/attention_span.inc"
#include "engine/ops/attention/attention_fours_wide.inc"
#include "engine/ops/attention/attention_fours_sums.inc"
#include "engine/ops/attention/attention_fours_rows.inc"
#include "engine/ops/attention/attention_fours_few.inc"
// clang-format on

namespace {

// Computes one row of several heads, head by head.
void AttendHeads(const AttentionTile& a) {
  for (int head = 0; head < a.heads; ++head) {
    FetchNext(a, head);
    const ptrdiff_t column = ptrdiff_t{head} * a.layout->head_dim;
    AttentionTile one = a;
    one.heads = 1;
    one.first_head += head;
    one.query += column;
    one.dst += column;
    AttendRows(one, [](auto&&...) {});
  }
}

}  // namespace

void AttendFours(const AttentionTile& args) {
  if (SeesFew(args)) {
    AttendFewKeys(args);
  } else if (args.heads > 1) {
    AttendHeads(args);
  } else {
    AttendRows(args, [](auto&&...) {});
  }
}

ATTEND_AVX512_VNNI_END
