#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_

#include <cstddef>

#include "engine/compute/isa.h"
#include "engine/ops/attention/kv_type.h"

namespace attend {

// How keys and values lie in a block. A block holds `block_tokens` consecutive
// tokens of one hypothesis, for all layers. Only engine/ops knows what the
// bytes of a block mean:
//
//   [layers][kv_heads] {
//     keys    [head_dim][16 tokens], so that 16 scores need broadcasts of the
//             query and no sums across lanes; padded to 64 bytes
//     values  [16 tokens][head_dim]; padded to 64 bytes, and so that a vector
//             may be read from any place in them
//     scales  int8 only: f32 [16 tokens] for keys, f32 [16 tokens] for values
//   }
//
// For instructions that multiply several numbers and add the products in one
// lane, as many numbers that are summed lie together:
//
//     keys    [head_dim / together][16 tokens][together]
//     values  [16 tokens / together][head_dim][together]
//
// int8 is symmetric and has a scale a token and head: a token's bytes depend on
// that token only. Its keys, and the queries that they are multiplied with, are
// to be spread first (SpreadHeads()). Keys in fours have kFoursZero added: the
// instruction wants one of its factors without a sign.
struct KvLayout {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  // The type of keys and values in the blocks.
  KvType dtype = KvType::kF32;
  // 1; 2 for pairs of bf16; 4 for fours of int8 (see MostTogether()).
  int together = 1;
  static constexpr int kMaxTogetherDim = 256;
  static constexpr int kFoursZero = 128;
  // Fixed: a block is one tile of keys of the attention kernels.
  int block_tokens = kBlockTokens;
  static constexpr int kBlockTokens = 16;

  // Bytes from a head's start (its keys) to its values, to its scales, and to
  // the next head.
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

// The most numbers that may lie together, with the instructions of `isa` and
// the type and head_dim of `layout`.
int MostTogether(Isa isa, const KvLayout& layout);

// `layout` for a decoder, whose rows see different keys: with the most numbers
// together if these are int8, since kernels over pairs cannot do that.
KvLayout DecoderLayout(Isa isa, KvLayout layout);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_LAYOUT_H_
