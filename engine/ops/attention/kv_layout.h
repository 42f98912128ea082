#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_

#include <cstddef>

#include "engine/compute/isa.h"
#include "engine/ops/attention/kv_type.h"

namespace attend {

// How keys and values lie in the blocks of a KV pool. A block holds
// `block_tokens` consecutive tokens of one hypothesis, of all layers; what its
// bytes mean is known to engine/ops alone:
//
//   [layers][kv_heads] {
//     keys    [head_dim][16 tokens], so that 16 scores come from broadcasts of
//             the query without sums across lanes; padded to 64 bytes
//     values  [16 tokens][head_dim]; padded likewise, and so that a vector may
//             be read from anywhere in them
//     scales  of int8 only: f32 [16 tokens] of the keys, as many of the values
//   }
//
// Paired, for instructions that multiply and add two numbers a lane: bf16, with
// an even head_dim of at most kMaxPairedDim. Two numbers that are summed lie
// together:
//
//     keys    [head_dim / 2][16 tokens][2]
//     values  [8 pairs of tokens][head_dim][2]
//
// int8 is symmetric, with a scale a token and head, so that a token's bytes
// depend on that token only.
struct KvLayout {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  // Of keys and values in the blocks; sums over them are in f32.
  KvType dtype = KvType::kF32;
  bool paired = false;
  static constexpr int kMaxPairedDim = 256;
  // Fixed for now: one block is one key tile of the attention kernels.
  int block_tokens = kBlockTokens;
  static constexpr int kBlockTokens = 16;

  // Bytes from a head's keys to its values, to its scales, to the next head.
  size_t values_at() const;
  size_t scales_at() const;
  size_t head_bytes() const;
  // Bytes from a block's start to a layer and head.
  size_t head_at(int layer, int kv_head) const {
    return (static_cast<size_t>(layer) * kv_heads + kv_head) * head_bytes();
  }
  // Bytes of one block; a multiple of 64.
  size_t block_bytes() const { return layers * kv_heads * head_bytes(); }
};

// Whether kernels of `isa` can keep what `layout` is about in pairs.
bool CanPair(Isa isa, const KvLayout& layout);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_
