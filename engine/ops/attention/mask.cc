#include "engine/ops/attention/mask.h"

#include "engine/tensor/check.h"

namespace attend {
namespace {

template <typename Rule>  // bool(int b, int query, int key)
AttentionMask Build(int batch, int queries, int keys, Rule rule) {
  AttentionMask mask{batch, queries, keys, {}};
  mask.visible.reserve(static_cast<size_t>(batch) * queries * keys);
  for (int b = 0; b < batch; ++b) {
    for (int q = 0; q < queries; ++q) {
      for (int k = 0; k < keys; ++k) mask.visible.push_back(rule(b, q, k));
    }
  }
  return mask;
}

}  // namespace

AttentionMask PaddingMask(absl::Span<const int> lengths, int queries,
                          int keys) {
  for (int length : lengths) ATTEND_CHECK(0 <= length && length <= keys);
  return Build(static_cast<int>(lengths.size()), queries, keys,
               [&](int b, int, int k) { return k < lengths[b]; });
}

AttentionMask CausalMask(int batch, int queries, int keys) {
  ATTEND_CHECK(queries <= keys);
  return Build(batch, queries, keys,
               [&](int, int q, int k) { return k <= keys - queries + q; });
}

AttentionMask TokenMask(absl::Span<const int32_t> mask, int batch,
                        int queries) {
  ATTEND_CHECK(batch > 0 && mask.size() % batch == 0);
  const int keys = static_cast<int>(mask.size()) / batch;
  return Build(batch, queries, keys, [&](int b, int, int k) {
    return mask[static_cast<size_t>(b) * keys + k] == 1;
  });
}

AttentionMask Both(const AttentionMask& a, const AttentionMask& b) {
  ATTEND_CHECK(a.batch == b.batch && a.queries == b.queries &&
               a.keys == b.keys);
  AttentionMask both = a;
  for (size_t i = 0; i < both.visible.size(); ++i) {
    both.visible[i] &= b.visible[i];
  }
  return both;
}

}  // namespace attend
