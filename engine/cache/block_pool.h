#ifndef ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
#define ATTEND_ENGINE_CACHE_BLOCK_POOL_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/cache/prefix_index.h"
#include "engine/cache/source_index.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The KV memory of one worker: as many equal blocks as fit a limit in bytes,
// in one buffer that is touched at creation and kept. Blocks have reference
// counts, so that hypotheses share what they have in common (paged attention:
// Kwon et al. 2023). A full block whose tokens are known may be sealed: others
// then find it by them, while it is used and after its release until it is
// allocated anew; so may the blocks of a source. Allocates nothing after
// creation. Not thread-safe; must outlive the BlockTables made on it.
class BlockPool {
 public:
  // total_blocks() may be 0 if the limit is below one block.
  BlockPool(const KvLayout& layout, size_t max_bytes);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  const KvLayout& layout() const { return layout_; }
  int total_blocks() const { return static_cast<int>(references_.size()); }
  int free_blocks() const { return free_count_; }
  int used_blocks() const { return total_blocks() - free_count_; }
  // How often Copy() was called.
  int copies() const { return copies_; }

  // A block with one reference: the one that has been free for longest. Its
  // contents are left over from its last user, and no longer found if they
  // were sealed. None free is the caller's bug.
  std::byte* Allocate();
  // Allocate(), with the first `tokens` tokens of `from`.
  std::byte* Copy(const std::byte* from, int tokens);
  void Retain(std::byte* block);
  // The last release frees the block. Of what is released at once, the ends of
  // chains should come first: without its beginning a chain is not found.
  void Release(std::byte* block);
  int references(const std::byte* block) const {
    return references_[Index(block)];
  }

  // `block`, which is used, full and not sealed yet, holds `tokens` after
  // `before`: the chain of the block before it, or a ChainRoot(). Its bytes
  // must not change any more.
  void Seal(const std::byte* block, ChainId before,
            absl::Span<const int> tokens);
  // The block sealed so, with a reference more, or null.
  std::byte* FindSealed(ChainId before, absl::Span<const int> tokens);
  // `blocks`, which are used and of no source yet, hold the keys and values of
  // the source `tokens`, in order. Their bytes must not change any more.
  void SealSource(absl::Span<std::byte* const> blocks,
                  absl::Span<const int> tokens);
  // Adds the blocks sealed so to `blocks`, each with a reference more; whether
  // there are any.
  bool FindSource(absl::Span<const int> tokens,
                  std::vector<std::byte*>& blocks);
  // Nothing sealed so far is found any more: its bytes may be wrong.
  void UnsealAll();
  // Of a sealed block; else kNoChain.
  ChainId chain(const std::byte* block) const {
    return sealed_.chain(Index(block));
  }

 private:
  int Index(const std::byte* block) const;
  // The block, with a reference more.
  std::byte* Take(int index);
  void Link(int index);    // to the end of the free list
  void Unlink(int index);  // from the free list

  const KvLayout layout_;
  const size_t block_bytes_;
  std::vector<int> references_;  // [blocks]
  Buffer<std::byte> memory_;     // [blocks, block_bytes]
  // Ring of free blocks, longest free first: each one's neighbours. Number
  // `blocks` stands between the last and the first.
  struct Neighbours {
    int previous;
    int next;
  };
  std::vector<Neighbours> free_;  // [blocks + 1]
  int free_count_ = 0;
  PrefixIndex sealed_;
  SourceIndex sources_;
  std::vector<int> source_blocks_;  // of SealSource(), reserved
  int copies_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
