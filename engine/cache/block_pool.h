#ifndef ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
#define ATTEND_ENGINE_CACHE_BLOCK_POOL_H_

#include <cstddef>
#include <vector>

#include "engine/ops/kv_layout.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The KV memory of one worker: as many equal blocks as fit a limit in bytes,
// in one buffer that is touched at creation and kept. Blocks have reference
// counts, so that hypotheses share what they have in common (paged attention:
// Kwon et al. 2023). Allocates nothing after creation. Not thread-safe; must
// outlive the BlockTables made on it.
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
  // contents are left over from its last user. None free is the caller's bug.
  std::byte* Allocate();
  // Allocate(), with the first `tokens` tokens of `from`.
  std::byte* Copy(const std::byte* from, int tokens);
  void Retain(std::byte* block);
  // The last release frees the block.
  void Release(std::byte* block);
  int references(const std::byte* block) const {
    return references_[Index(block)];
  }

 private:
  int Index(const std::byte* block) const;

  const KvLayout layout_;
  const size_t block_bytes_;
  std::vector<int> references_;  // [blocks]
  Buffer<std::byte> memory_;     // [blocks, block_bytes]
  // Ring of free block numbers, longest free first.
  std::vector<int> free_;  // [blocks]
  int free_head_ = 0;
  int free_count_ = 0;
  int copies_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_BLOCK_POOL_H_
