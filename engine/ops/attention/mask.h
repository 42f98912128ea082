#ifndef ATTEND_ENGINE_OPS_ATTENTION_MASK_H_
#define ATTEND_ENGINE_OPS_ATTENTION_MASK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Which keys each query may see, as a matrix: the reference for tests. The
// engine has no such matrices; its AttentionPieces must give the same results.
struct AttentionMask {
  int batch = 0;
  int queries = 0;
  int keys = 0;
  std::vector<uint8_t> visible;  // [batch, queries, keys], 0 or 1

  bool Visible(int b, int query, int key) const {
    return visible[(static_cast<size_t>(b) * queries + query) * keys + key];
  }
};

// All queries of input b see its first lengths[b] keys. Lengths in [0, keys].
AttentionMask PaddingMask(absl::Span<const int> lengths, int queries, int keys);

// Query i sees the keys [0, keys - queries + i], so that the last query sees
// all keys. The queries are the last rows of a prompt so far. queries <= keys.
AttentionMask CausalMask(int batch, int queries, int keys);

// All queries of input b see the keys where the caller's [batch, keys] mask
// is 1.
AttentionMask TokenMask(absl::Span<const int32_t> mask, int batch, int queries);

// The keys that are visible in both masks, which have the same shape.
AttentionMask Both(const AttentionMask& a, const AttentionMask& b);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_MASK_H_
