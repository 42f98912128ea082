#include "engine/cache/block_pool.h"

#include "engine/compute/node_memory.h"
#include "engine/tensor/check.h"

namespace attend {

BlockPool::BlockPool(const KvLayout& layout, size_t max_bytes)
    : layout_(layout),
      block_bytes_(layout.block_bytes()),
      references_(max_bytes / block_bytes_, 0),
      memory_(references_.size(), block_bytes_),
      free_(references_.size() + 1),
      sealed_(total_blocks(), layout.block_tokens),
      sources_(total_blocks(), layout.block_tokens),
      is_copied_(references_.size()),
      is_copy_(references_.size()) {
  source_blocks_.reserve(references_.size());
  begun_copies_.reserve(kMostCopies);
  free_.back() = {.previous = total_blocks(), .next = total_blocks()};
  for (int i = 0; i < total_blocks(); ++i) Link(i, total_blocks());
}

void BlockPool::PlaceFor(const Team& team) {
  ATTEND_CHECK(free_blocks() == total_blocks());
  if (team.nodes().size() == 1) return;
  memory_.Await(references_.size());
  PlaceInTurns(team, memory_.data(), memory_.size());
}

int BlockPool::Index(const std::byte* block) const {
  const size_t offset = block - memory_.data();
  ATTEND_CHECK(offset < memory_.size() && offset % block_bytes_ == 0);
  return static_cast<int>(offset / block_bytes_);
}

std::byte* BlockPool::Allocate() {
  ATTEND_CHECK(free_count_ > 0);
  const int index = free_.back().next;
  // The new user may write into the block.
  if (is_copied_[index] || is_copy_[index]) CopyNow();
  memory_.Await(index + 1);
  Unlink(index);
  sealed_.Forget(index);
  sources_.Forget(index);
  references_[index] = 1;
  return memory_.data() + index * block_bytes_;
}

std::byte* BlockPool::Copy(const std::byte* from, int tokens) {
  std::byte* const to = Allocate();
  // Copies that are begun do not depend on each other.
  if (begun_copies_.size() == kMostCopies || is_copy_[Index(from)]) CopyNow();
  begun_copies_.push_back({.from = from, .tokens = tokens, .to = to});
  is_copied_[Index(from)] = true;
  is_copy_[Index(to)] = true;
  ++copies_;
  return to;
}

void BlockPool::CopyNow() {
  for (const auto& [from, tokens, to] : begun_copies_) {
    CopyKv(layout_, from, tokens, to);
  }
  ForgetCopies();
}

void BlockPool::FinishCopies(Compute& compute) {
  CopyKv(compute, layout_, begun_copies_);
  ForgetCopies();
}

void BlockPool::ForgetCopies() {
  for (const KvCopy& copy : begun_copies_) {
    is_copied_[Index(copy.from)] = false;
    is_copy_[Index(copy.to)] = false;
  }
  begun_copies_.clear();
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
  // Blocks that cannot be found again are reused first, while they are in the
  // CPU's cache.
  const bool is_sealed = chain(block) != kNoChain || sources_.has_source(index);
  Link(index, is_sealed ? total_blocks() : free_.back().next);
}

void BlockPool::Link(int index, int next) {
  const int previous = free_[next].previous;
  free_[index] = {.previous = previous, .next = next};
  free_[previous].next = index;
  free_[next].previous = index;
  ++free_count_;
}

void BlockPool::Unlink(int index) {
  const auto [previous, next] = free_[index];
  free_[previous].next = next;
  free_[next].previous = previous;
  --free_count_;
}

void BlockPool::Seal(const std::byte* block, ChainId before,
                     absl::Span<const int> tokens) {
  const int index = Index(block);
  ATTEND_CHECK(references_[index] > 0);
  sealed_.Seal(index, before, tokens);
}

std::byte* BlockPool::FindSealed(ChainId before, absl::Span<const int> tokens) {
  const int index = sealed_.Find(before, tokens);
  return index < 0 ? nullptr : Take(index);
}

std::byte* BlockPool::Take(int index) {
  if (references_[index]++ == 0) Unlink(index);
  return memory_.data() + index * block_bytes_;
}

void BlockPool::SealSource(absl::Span<std::byte* const> blocks,
                           absl::Span<const int> tokens, uint64_t salt) {
  source_blocks_.clear();
  for (const std::byte* block : blocks) source_blocks_.push_back(Index(block));
  sources_.Seal(source_blocks_, tokens, salt);
}

bool BlockPool::FindSource(absl::Span<const int> tokens,
                           std::vector<std::byte*>& blocks, uint64_t salt) {
  const int first = sources_.Find(tokens, salt);
  for (int i = first; i != SourceIndex::kNone; i = sources_.next(i)) {
    blocks.push_back(Take(i));
  }
  return first != SourceIndex::kNone;
}

void BlockPool::UnsealAll() {
  sealed_.ForgetAll();
  sources_.ForgetAll();
}

}  // namespace attend
