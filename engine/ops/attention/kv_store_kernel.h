#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_KERNEL_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_KERNEL_H_

#include <cstddef>

#include "engine/ops/attention/kv_layout.h"

namespace attend {

// What one call of a store kernel writes: keys and values of one head, of
// consecutive tokens of one block.
struct KvTokens {
  const KvLayout* layout = nullptr;
  const float* key = nullptr;    // of the first token, [head_dim]
  const float* value = nullptr;  // of the first token, [head_dim]
  int stride = 0;                // floats from a token to the next
  std::byte* head = nullptr;     // the head's place in the block
  int place = 0;                 // the first token's place in the block
  int tokens = 0;                // place + tokens <= 16
  bool last = false;             // the places after these hold nothing

  // Whether tokens are transposed together. Few are as fast one by one.
  bool together() const { return place == 0 && last && tokens >= 4; }
};

namespace baseline {
void StoreTokens(const KvTokens& args);
}
namespace avx2 {
void StoreTokens(const KvTokens& args);
}
namespace avx512 {
void StoreTokens(const KvTokens& args);
// For a layout with pairs of bf16; needs bf16 instructions.
void StorePairs(const KvTokens& args);
// For a layout with fours of int8.
void StoreFours(const KvTokens& args);
}  // namespace avx512

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_STORE_KERNEL_H_
