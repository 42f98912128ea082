#ifndef ATTEND_ENGINE_CACHE_BLOCK_TABLE_H_
#define ATTEND_ENGINE_CACHE_BLOCK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/cache/block_pool.h"

namespace attend {

// The blocks that hold the keys and values of one hypothesis, in order. A table
// shares blocks with other tables (see ShareFrom()) and writes only to blocks
// that no other table holds (copy on write). Its destructor gives all blocks
// back. Used by the pool's thread only; the pool must outlive the table.
class BlockTable {
 public:
  // Reserves room for `max_tokens`: up to there no method allocates memory.
  BlockTable(BlockPool& pool, int max_tokens);
  // The same while the pool is not known yet, only the tokens of its blocks.
  // Attach() must be called before anything is appended.
  BlockTable(int max_tokens, int block_tokens);
  void Attach(BlockPool& pool);
  BlockTable(BlockTable&& other) noexcept;
  BlockTable& operator=(BlockTable&& other) noexcept;
  ~BlockTable() { Clear(); }

  // The number of tokens held, and the blocks that hold them. Block i holds
  // tokens [i * block_tokens, (i + 1) * block_tokens). Valid until the table
  // changes.
  int tokens() const { return tokens_; }
  absl::Span<std::byte* const> blocks() const { return blocks_; }
  // The number of tables that hold block `index` of this table.
  int references(int index) const { return pool_->references(blocks_[index]); }

  // Free blocks that PrepareAppend(tokens) would take now. Where several tables
  // share a last block, their sum is one block too high: the last of them to
  // append keeps the block itself.
  int BlocksToAppend(int tokens) const;
  // Makes room for `tokens` more tokens, which the caller writes after
  // BlockPool::FinishCopies(). Replaces a last block that is shared and partly
  // filled by a copy of its filled part, and adds new blocks. Returns the index
  // of the first new token. The pool must have BlocksToAppend(tokens) free
  // blocks.
  int PrepareAppend(int tokens);

  // Drops the tokens from number `tokens` on, which no sealed block holds, and
  // gives the blocks back that hold no others.
  void Truncate(int tokens);

  // Gives the blocks of this table back and shares those of `other`, which must
  // use the same pool.
  void ShareFrom(const BlockTable& other);
  // The same for the first `tokens` tokens of `other`.
  void ShareFrom(const BlockTable& other, int tokens);
  // Gives all blocks back.
  void Clear();

  // Appends sealed blocks. `tokens` begin with the tokens that the table holds;
  // the sealed blocks of the tokens that follow are shared as far as there are
  // any. A partly filled last block may be replaced by a full sealed one.
  // Returns the number of tokens that the table has gained.
  int ShareSealed(absl::Span<const int> tokens, ChainId root);
  // Seals the full blocks that are not sealed yet. `tokens` are all tokens that
  // the table holds.
  void Seal(absl::Span<const int> tokens, ChainId root);

  // For an empty table that is to hold a source: `tokens` are all tokens of
  // that source. Shares its blocks if the source is sealed; otherwise returns
  // false.
  bool ShareSource(absl::Span<const int> tokens, uint64_t salt = 0);
  // Seals the blocks of a source, once their keys and values are written.
  void SealSource(absl::Span<const int> tokens, uint64_t salt = 0);

  // Returns true if the next append writes to a block that other tables read.
  bool TailIsShared() const;

 private:
  // The chain of the first `blocks` blocks, which are full.
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
