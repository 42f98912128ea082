#ifndef ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_
#define ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Names all tokens from the beginning of a sequence to the end of a block: two
// blocks of one chain id hold the same tokens after the same tokens. Two
// different chains never get the same id.
struct ChainId {
  uint64_t number = 0;
  uint64_t salt = 0;  // salt of the root

  friend auto operator<=>(const ChainId&, const ChainId&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const ChainId& id) {
    return H::combine(std::move(hash), id.number, id.salt);
  }
};
// The chain id of a block whose tokens are not known.
inline constexpr ChainId kNoChain = {};
// The id that stands before the first block. The same tokens have other keys
// and values under another adapter or kind (see RotarySpec::FrequencyKind()),
// so each adapter and kind has a root of its own. Adapter 0 is the model alone.
// Chains of different salts are apart although their keys and values are the
// same: see EngineRequest::cache_salt.
constexpr ChainId ChainRoot(uint32_t adapter = 0, int kind = 0,
                            uint64_t salt = 0) {
  return {
      .number = uint64_t{1} << 63 | static_cast<uint64_t>(kind) << 32 | adapter,
      .salt = salt};
}

// Finds the number of a pool's block by the tokens that it holds and the chain
// before them. Tokens and chain are compared, not only their hash, so a wrong
// block is never found. All memory is taken at creation. Not thread-safe.
class PrefixIndex {
 public:
  using Hash = uint64_t (*)(ChainId before, absl::Span<const int> tokens);
  static uint64_t DefaultHash(ChainId before, absl::Span<const int> tokens);

  PrefixIndex(int blocks, int block_tokens, Hash hash = DefaultHash);

  // Records that `block`, which has no chain id yet, holds `tokens`
  // [block_tokens] after `before`. If another block holds the same, `block`
  // gets the same id and is found in place of the other, because it was used
  // later.
  void Seal(int block, ChainId before, absl::Span<const int> tokens);
  // The block that holds these tokens after `before`, or -1.
  int Find(ChainId before, absl::Span<const int> tokens) const;
  // To be called before the contents of a block change: the block loses its id
  // and is no longer found. Blocks that continue it keep their ids, but are no
  // longer found either, because the same tokens get a new id.
  void Forget(int block);
  void ForgetAll();

  // kNoChain if the block is not sealed.
  ChainId chain(int block) const { return chains_[block]; }

 private:
  static constexpr int kEmpty = -1;

  // The slot that holds the block looked for, or the empty slot where it would
  // be stored.
  size_t SlotOf(ChainId before, absl::Span<const int> tokens,
                uint64_t hash) const;
  void EmptySlot(size_t slot);

  const int block_tokens_;
  const Hash hash_;
  uint64_t last_number_ = 0;      // last chain number
  std::vector<ChainId> chains_;   // [blocks]
  std::vector<ChainId> befores_;  // [blocks]
  std::vector<uint64_t> hashes_;  // [blocks]
  std::vector<int> tokens_;       // [blocks, block_tokens]
  // Block numbers by hash, at least half of them kEmpty. A block stands at the
  // place of its hash, or in the first free place after it.
  std::vector<int> slots_;  // [a power of two]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_PREFIX_INDEX_H_
