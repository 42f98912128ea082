#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/kv_layout.h"

namespace attend {

// Keys and values of consecutive rows of one hypothesis, and where they go. The
// writes of a call go to different blocks. The contents of a block after a
// write's last token are lost.
struct KvWrite {
  int first_row = 0;
  int rows = 0;
  absl::Span<std::byte* const> blocks;  // all blocks of the hypothesis
  int first_token = 0;  // index of the first row's token in the hypothesis
};
struct WriteKvArgs {
  const KvLayout* layout = nullptr;
  int layer = 0;
  // Row r's key of head h starts at key + r * stride + h * head_dim; likewise
  // value.
  const float* key = nullptr;
  const float* value = nullptr;
  int stride = 0;
  // The number that writes give to row 0 of key and value.
  int first_row = 0;
  absl::Span<const KvWrite> writes;
};
// Writes keys and values in the type of the layout. bf16: rounded to nearest,
// ties to even. int8: round(x / scale), where scale = max|x| / 127 over the
// row's numbers in a head. Both clamp infinities and keep NaN. A row's bytes
// depend on that row only.
void WriteKv(Compute& compute, const WriteKvArgs& args);

// Copies the keys, values and scales of the first `tokens` tokens of all layers
// to another block. The other contents of that block are lost.
void CopyKv(const KvLayout& layout, const std::byte* from, int tokens,
            std::byte* to);

// The arguments of CopyKv().
struct KvCopy {
  const std::byte* from = nullptr;
  int tokens = 0;
  std::byte* to = nullptr;
};
// Several copies by the team, each member a run of them: what is copied for the
// rows that it computes may then be in its cache.
void CopyKv(Compute& compute, const KvLayout& layout,
            absl::Span<const KvCopy> copies);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_H_
