#ifndef ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_WEIGHTS_H_
#define ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_WEIGHTS_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/kv_layout.h"

namespace attend {

// A row of a step whose attention weights are wanted.
struct WeighedRow {
  int row = 0;
  // The row sees keys [0, keys) of these blocks; keys > 0.
  absl::Span<std::byte* const> blocks;
  int keys = 0;
  float* weights = nullptr;  // [keys], written
};

// The arguments of Attention() with the same names have the same meanings. The
// rules have no bias, no distances, no slopes and no window.
struct AttentionWeightsArgs {
  const AttentionRules* rules = nullptr;
  const KvLayout* layout = nullptr;
  int layer = 0;
  int heads = 0;
  const float* query = nullptr;
  int query_stride = 0;
  int first_row = 0;
  absl::Span<const WeighedRow> rows;
};
// Computes softmax(cap(q k^T * scale)) of each row, which is how much the row
// attends to each key: the mean over all heads. Attention() keeps no weights,
// so the scores are computed once more. A row's bits depend on its own query
// and keys only. Allocates nothing.
void AttentionWeights(Compute& compute, const AttentionWeightsArgs& args);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_ATTENTION_WEIGHTS_H_
