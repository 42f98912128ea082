#include "engine/cache/prefix_index.h"

#include <algorithm>
#include <bit>

#include "absl/hash/hash.h"
#include "engine/tensor/check.h"

namespace attend {

uint64_t PrefixIndex::DefaultHash(ChainId before,
                                  absl::Span<const int> tokens) {
  return absl::HashOf(before, tokens);
}

PrefixIndex::PrefixIndex(int blocks, int block_tokens, Hash hash)
    : block_tokens_(block_tokens),
      hash_(hash),
      chains_(blocks, kNoChain),
      befores_(blocks, kNoChain),
      hashes_(blocks, 0),
      tokens_(static_cast<size_t>(blocks) * block_tokens),
      slots_(std::bit_ceil(2 * static_cast<size_t>(blocks) + 1), kEmpty) {}

size_t PrefixIndex::SlotOf(ChainId before, absl::Span<const int> tokens,
                           uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != kEmpty; slot = (slot + 1) & mask) {
    const int block = slots_[slot];
    if (hashes_[block] == hash && befores_[block] == before &&
        std::equal(
            tokens.begin(), tokens.end(),
            tokens_.begin() + static_cast<size_t>(block) * block_tokens_)) {
      break;
    }
  }
  return slot;
}

void PrefixIndex::Seal(int block, ChainId before,
                       absl::Span<const int> tokens) {
  ATTEND_CHECK(chains_[block] == kNoChain && before != kNoChain &&
               static_cast<int>(tokens.size()) == block_tokens_);
  const uint64_t hash = hash_(before, tokens);
  const size_t slot = SlotOf(before, tokens, hash);
  chains_[block] = slots_[slot] == kEmpty ? ChainId{++last_number_, before.salt}
                                          : chains_[slots_[slot]];
  befores_[block] = before;
  hashes_[block] = hash;
  std::copy(tokens.begin(), tokens.end(),
            tokens_.begin() + static_cast<size_t>(block) * block_tokens_);
  slots_[slot] = block;
}

int PrefixIndex::Find(ChainId before, absl::Span<const int> tokens) const {
  ATTEND_CHECK(static_cast<int>(tokens.size()) == block_tokens_);
  return slots_[SlotOf(before, tokens, hash_(before, tokens))];
}

void PrefixIndex::Forget(int block) {
  if (chains_[block] == kNoChain) return;
  chains_[block] = kNoChain;
  const size_t mask = slots_.size() - 1;
  size_t slot = hashes_[block] & mask;
  while (slots_[slot] != block) {
    // The slot is empty: another block with the same tokens is found instead.
    if (slots_[slot] == kEmpty) return;
    slot = (slot + 1) & mask;
  }
  EmptySlot(slot);
}

// Moves the blocks in the slots that follow, so that no block is cut off from
// the place of its hash (Knuth, The Art of Computer Programming 3, 6.4,
// algorithm R).
void PrefixIndex::EmptySlot(size_t slot) {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (slot + 1) & mask; slots_[next] != kEmpty;
       next = (next + 1) & mask) {
    const size_t home = hashes_[slots_[next]] & mask;
    // A block may move to `slot` unless `slot` is before the place of its hash.
    if (((next - home) & mask) < ((next - slot) & mask)) continue;
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = kEmpty;
}

void PrefixIndex::ForgetAll() {
  std::fill(chains_.begin(), chains_.end(), kNoChain);
  std::fill(slots_.begin(), slots_.end(), kEmpty);
}

}  // namespace attend
