#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/kv_layout.h"

namespace attend {

// Stores keys and values of ragged rows in their blocks, in the numbers of the
// layout: bf16 rounds to nearest, ties to even; int8 is round(x / scale) with
// scale = the row's largest magnitude in that head / 127. Both clamp infinities
// and keep NaN. A row's bytes depend on that row only.
//
// The writes of a call are to different blocks; what is in a block after a
// write's last token is lost.
struct KvWrite {
  int first_row = 0;
  int rows = 0;
  absl::Span<std::byte* const> blocks;  // of the hypothesis, from its start
  int first_token = 0;  // index in the hypothesis of the first row's token
};
struct WriteKvArgs {
  const KvLayout* layout = nullptr;
  int layer = 0;
  // Row r's key of head h starts at key + r * stride + h * head_dim; likewise
  // value.
  const float* key = nullptr;
  const float* value = nullptr;
  int stride = 0;
  // The row of the step, as writes count them, that key and value begin with.
  int first_row = 0;
  absl::Span<const KvWrite> writes;
};
void WriteKv(Compute& compute, const WriteKvArgs& args);

// Copies the first `tokens` tokens of all layers from one block to another,
// scales too. What follows them there is lost.
void CopyKv(const KvLayout& layout, const std::byte* from, int tokens,
            std::byte* to);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_
