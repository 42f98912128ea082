#ifndef ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_
#define ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Names all tokens from the beginning to the end of a block: two blocks of one
// chain id hold the same tokens after the same tokens. Never given twice.
using ChainId = uint64_t;
// Of blocks whose tokens nobody has told.
inline constexpr ChainId kNoChain = 0;
// Before the first block. Chains of different adapters or kinds (see
// RotarySpec::KindOf()), whose keys and values differ for the same tokens,
// begin apart; adapter 0 is the model alone.
constexpr ChainId ChainRoot(uint32_t adapter = 0, int kind = 0) {
  return uint64_t{1} << 63 | static_cast<uint64_t>(kind) << 32 | adapter;
}

// Finds the blocks of a pool, by number, by the tokens that they hold and the
// chain before them. Both are compared, not only their hash, so that what is
// found is what was looked for. All memory is taken at creation. Not
// thread-safe.
class PrefixIndex {
 public:
  using Hash = uint64_t (*)(ChainId before, absl::Span<const int> tokens);
  static uint64_t DefaultHash(ChainId before, absl::Span<const int> tokens);

  PrefixIndex(int blocks, int block_tokens, Hash hash = DefaultHash);

  // Block `block`, which has no chain id yet, holds these [block_tokens] tokens
  // after `before`. It gets the id of another block that holds the same, if
  // there is one, and is found in its place: it was used later.
  void Seal(int block, ChainId before, absl::Span<const int> tokens);
  // The block that holds these tokens after `before`, or -1.
  int Find(ChainId before, absl::Span<const int> tokens) const;
  // The contents of a block are about to change: it loses its id, and is not
  // found any more. What continues it keeps its own id, but is reached no
  // longer, as the same tokens get a new id.
  void Forget(int block);
  void ForgetAll();

  // kNoChain if the block is not sealed.
  ChainId chain(int block) const { return chains_[block]; }

 private:
  static constexpr int kEmpty = -1;

  // The slot of what is looked for, or the empty one where it would go.
  size_t SlotOf(ChainId before, absl::Span<const int> tokens,
                uint64_t hash) const;
  void EmptySlot(size_t slot);

  const int block_tokens_;
  const Hash hash_;
  ChainId last_chain_ = kNoChain;
  std::vector<ChainId> chains_;   // [blocks]
  std::vector<ChainId> befores_;  // [blocks]
  std::vector<uint64_t> hashes_;  // [blocks]
  std::vector<int> tokens_;       // [blocks, block_tokens]
  // Block numbers by hash, at least half of them kEmpty; a block is at its
  // hash's place or in the first free one after it.
  std::vector<int> slots_;  // [a power of two]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_
