#ifndef ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
#define ATTEND_ENGINE_CACHE_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/cache/block_memory.h"
#include "engine/cache/prefix_index.h"
#include "engine/cache/source_index.h"
#include "engine/compute/compute.h"
#include "engine/compute/team.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"

namespace attend {

// The KV memory of one worker: as many equal blocks as fit a limit in bytes, in
// one buffer that is touched once and kept. Blocks are reference-counted, so
// hypotheses share the blocks of their common prefix (paged attention: Kwon et
// al. 2023). Where they diverge, the last block is copied; the copies of a step
// are done together.
//
// A full block whose tokens are known may be sealed. A sealed block is found by
// its tokens while it is used, and after its release until the block is
// allocated again. The blocks of a source may be sealed likewise.
//
// Nothing is allocated after creation. Not thread-safe. The pool must outlive
// the BlockTables that use it.
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
  // Number of calls of Copy().
  int copies() const { return copies_; }

  // A free block, now with one reference: of those that were not sealed when
  // they were released the last one, as it may be in the CPU's cache; then one
  // that was never used; then the one that has been free for longest. If it was
  // sealed, it is no longer found. Its bytes are those of its last user.
  // May wait for the memory of a new block (BlockMemory). Calling this while no
  // block is free is a bug of the caller.
  std::byte* Allocate();
  // Allocate(); the new block gets the first `tokens` tokens of `from`, at the
  // latest in FinishCopies(). Until then the bytes of both may not be read or
  // written by others.
  std::byte* Copy(const std::byte* from, int tokens);
  // Executes the pending copies on the team. Call before a step reads or writes
  // keys and values.
  void FinishCopies(Compute& compute);
  void Retain(std::byte* block);
  // The last release frees the block. A caller that releases several blocks
  // should begin with the ends of chains: a chain whose first block has been
  // allocated again is not found.
  void Release(std::byte* block);
  int references(const std::byte* block) const {
    return references_[Index(block)];
  }

  // Puts the memory into the NUMA nodes of the team that computes, in turns. On
  // several nodes waits for all of the memory. To be called before a block is
  // allocated.
  void PlaceFor(const Team& team);

  // Seals a block that is used, full and not sealed yet. It holds `tokens`;
  // `before` is the chain of the block before it, or a ChainRoot(). The bytes
  // of a sealed block must not change.
  void Seal(const std::byte* block, ChainId before,
            absl::Span<const int> tokens);
  // The block that was sealed with these arguments, now with one more
  // reference; null if there is none.
  std::byte* FindSealed(ChainId before, absl::Span<const int> tokens);
  // Seals blocks that are used and belong to no source yet. In order, they hold
  // the keys and values of the source `tokens`. Their bytes must not change.
  void SealSource(absl::Span<std::byte* const> blocks,
                  absl::Span<const int> tokens, uint64_t salt = 0);
  // Appends the blocks of the sealed source `tokens` to `blocks`, each with one
  // more reference. Returns false if that source is not sealed.
  bool FindSource(absl::Span<const int> tokens, std::vector<std::byte*>& blocks,
                  uint64_t salt = 0);
  // Unseals all blocks, whose bytes may be wrong: none is found any more.
  void UnsealAll();
  // The chain that ends with this block; kNoChain if it is not sealed.
  ChainId chain(const std::byte* block) const {
    return sealed_.chain(Index(block));
  }

 private:
  // Maximum number of pending copies.
  static constexpr int kMostCopies = 1024;

  int Index(const std::byte* block) const;
  // FinishCopies() on the calling thread.
  void CopyNow();
  void ForgetCopies();
  // The block of this number, with one more reference.
  std::byte* Take(int index);
  void Link(int index, int next);  // into the free list, before `next`
  void Unlink(int index);          // from the free list

  const KvLayout layout_;
  const size_t block_bytes_;
  std::vector<int> references_;  // [blocks]
  BlockMemory memory_;           // [blocks, block_bytes]
  // Ring of free blocks, in the order in which they are allocated. Each entry
  // holds the neighbours of one block; entry number total_blocks() stands
  // between the last block and the first.
  struct Neighbours {
    int previous;
    int next;
  };
  std::vector<Neighbours> free_;  // [blocks + 1]
  int free_count_ = 0;
  PrefixIndex sealed_;
  SourceIndex sources_;
  std::vector<int> source_blocks_;    // scratch of SealSource(), reserved
  std::vector<KvCopy> begun_copies_;  // reserved
  // [blocks]: of those copies that are begun.
  std::vector<bool> is_copied_;
  std::vector<bool> is_copy_;
  int copies_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
