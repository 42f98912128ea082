#ifndef ATTEND_ENGINE_OPS_KV_LAYOUT_H_
#define ATTEND_ENGINE_OPS_KV_LAYOUT_H_

#include <cstddef>

namespace attend {

// How keys and values lie in the blocks of a KV pool. A block holds
// `block_tokens` consecutive tokens of one hypothesis, of all layers; what its
// bytes mean is known to engine/ops alone.
struct KvLayout {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  // Fixed for now: one block is one key tile of the attention kernels.
  int block_tokens = kBlockTokens;
  static constexpr int kBlockTokens = 16;

  // Bytes of one block; a multiple of 64.
  size_t block_bytes() const;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_KV_LAYOUT_H_
