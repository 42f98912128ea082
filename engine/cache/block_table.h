#ifndef ATTEND_ENGINE_CACHE_BLOCK_TABLE_H_
#define ATTEND_ENGINE_CACHE_BLOCK_TABLE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/cache/block_pool.h"

namespace attend {

// The blocks that hold the keys and values of one hypothesis, in order. Shares
// blocks with its parents and children (see ShareFrom()) and writes only to its
// own (copy on write). Gives all back when destroyed. Used by its pool's
// thread only; the pool must outlive it.
class BlockTable {
 public:
  // Room for `max_tokens` is reserved: up to there nothing allocates memory.
  BlockTable(BlockPool& pool, int max_tokens);
  // The same before the pool, of blocks of so many tokens, is known: Attach()
  // comes before anything is appended.
  BlockTable(int max_tokens, int block_tokens);
  void Attach(BlockPool& pool);
  BlockTable(BlockTable&& other) noexcept;
  BlockTable& operator=(BlockTable&& other) noexcept;
  ~BlockTable() { Clear(); }

  // Tokens held, and the blocks that hold them: block i holds tokens
  // [i * block_tokens, (i + 1) * block_tokens). Valid until the table changes.
  int tokens() const { return tokens_; }
  absl::Span<std::byte* const> blocks() const { return blocks_; }
  // Tables that hold block `index`.
  int references(int index) const { return pool_->references(blocks_[index]); }

  // Blocks of the pool that PrepareAppend(tokens) takes now. For several
  // tables that share a last block the sum is one more than all take.
  int BlocksToAppend(int tokens) const;
  // Makes room for `tokens` more: a shared, partly filled last block is
  // replaced by a copy of its filled part, and new blocks are added. Returns
  // the index of the first new token; the caller writes them. The pool must
  // have BlocksToAppend(tokens) free.
  int PrepareAppend(int tokens);

  // Gives its blocks back and shares those of `other`, of the same pool.
  void ShareFrom(const BlockTable& other);
  // The same for the first `tokens` tokens of `other`.
  void ShareFrom(const BlockTable& other, int tokens);
  // Gives all blocks back.
  void Clear();

  // Goes on with sealed blocks of what `tokens`, which begin with all that the
  // table holds, hold after it; the part of a block that it has may be replaced
  // by a whole one. Returns how many tokens it holds more.
  int ShareSealed(absl::Span<const int> tokens, ChainId root);
  // Seals the full blocks that are not sealed yet; `tokens` are all that the
  // table holds.
  void Seal(absl::Span<const int> tokens, ChainId root);

  // Of a table that is for a source, all of whose tokens these are. Shares the
  // blocks that hold it already; whether there are any. Empty before.
  bool ShareSource(absl::Span<const int> tokens);
  // Lets others share them, when they are filled.
  void SealSource(absl::Span<const int> tokens);

  // Whether the next append writes to a block that others read.
  bool TailIsShared() const;

 private:
  // Of the first `blocks` blocks, which are full.
  ChainId ChainOf(int blocks, ChainId root) const {
    return blocks == 0 ? root : pool_->chain(blocks_[blocks - 1]);
  }

  int block_tokens_;
  BlockPool* pool_ = nullptr;
  std::vector<std::byte*> blocks_;
  int tokens_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_BLOCK_TABLE_H_
