#include "engine/cache/block_pool.h"

#include <numeric>

#include "engine/ops/kv_store.h"
#include "engine/tensor/check.h"

namespace attend {

BlockPool::BlockPool(const KvLayout& layout, size_t max_bytes)
    : layout_(layout),
      block_bytes_(layout.block_bytes()),
      references_(max_bytes / block_bytes_, 0),
      memory_(references_.size() * block_bytes_),
      free_(references_.size()),
      free_count_(total_blocks()) {
  std::iota(free_.begin(), free_.end(), 0);
}

int BlockPool::Index(const std::byte* block) const {
  const size_t offset = block - memory_.data();
  ATTEND_CHECK(offset < memory_.size() && offset % block_bytes_ == 0);
  return static_cast<int>(offset / block_bytes_);
}

std::byte* BlockPool::Allocate() {
  ATTEND_CHECK(free_count_ > 0);
  const int index = free_[free_head_];
  free_head_ = (free_head_ + 1) % total_blocks();
  --free_count_;
  references_[index] = 1;
  return memory_.data() + index * block_bytes_;
}

std::byte* BlockPool::Copy(const std::byte* from, int tokens) {
  std::byte* const to = Allocate();
  CopyKv(layout_, from, tokens, to);
  ++copies_;
  return to;
}

void BlockPool::Retain(std::byte* block) {
  int& references = references_[Index(block)];
  ATTEND_CHECK(references > 0);
  ++references;
}

void BlockPool::Release(std::byte* block) {
  const int index = Index(block);
  ATTEND_CHECK(references_[index] > 0);
  if (--references_[index] > 0) return;
  free_[(free_head_ + free_count_) % total_blocks()] = index;
  ++free_count_;
}

}  // namespace attend
