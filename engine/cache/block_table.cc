#include "engine/cache/block_table.h"

#include <utility>

#include "engine/tensor/check.h"

namespace attend {
namespace {

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

}  // namespace

BlockTable::BlockTable(int max_tokens, int block_tokens)
    : block_tokens_(block_tokens) {
  blocks_.reserve(CeilDiv(max_tokens, block_tokens));
}

BlockTable::BlockTable(BlockPool& pool, int max_tokens)
    : BlockTable(max_tokens, pool.layout().block_tokens) {
  Attach(pool);
}

void BlockTable::Attach(BlockPool& pool) {
  ATTEND_CHECK(block_tokens_ == pool.layout().block_tokens && tokens_ == 0);
  pool_ = &pool;
}

BlockTable::BlockTable(BlockTable&& other) noexcept
    : block_tokens_(other.block_tokens_),
      pool_(other.pool_),
      blocks_(std::move(other.blocks_)),
      tokens_(std::exchange(other.tokens_, 0)) {
  other.blocks_.clear();
}

BlockTable& BlockTable::operator=(BlockTable&& other) noexcept {
  if (this == &other) return *this;
  Clear();
  block_tokens_ = other.block_tokens_;
  pool_ = other.pool_;
  // Swaps, so that both tables keep a vector with reserved room.
  blocks_.swap(other.blocks_);
  tokens_ = std::exchange(other.tokens_, 0);
  return *this;
}

bool BlockTable::TailIsShared() const {
  return tokens_ % block_tokens_ != 0 && pool_->references(blocks_.back()) > 1;
}

int BlockTable::BlocksToAppend(int tokens) const {
  ATTEND_CHECK(tokens >= 0);
  if (tokens == 0) return 0;
  const int needed = CeilDiv(tokens_ + tokens, block_tokens_);
  return needed - static_cast<int>(blocks_.size()) + (TailIsShared() ? 1 : 0);
}

int BlockTable::PrepareAppend(int tokens) {
  ATTEND_CHECK(tokens >= 0);
  const int first = tokens_;
  if (tokens == 0) return first;
  if (TailIsShared()) {
    std::byte* const shared = blocks_.back();
    blocks_.back() = pool_->Copy(shared, tokens_ % block_tokens_);
    pool_->Release(shared);
  }
  // A sealed block must not change.
  ATTEND_CHECK(tokens_ % block_tokens_ == 0 ||
               pool_->chain(blocks_.back()) == kNoChain);
  tokens_ += tokens;
  const size_t needed = CeilDiv(tokens_, block_tokens_);
  while (blocks_.size() < needed) blocks_.push_back(pool_->Allocate());
  return first;
}

void BlockTable::Truncate(int tokens) {
  ATTEND_CHECK(tokens >= 0 && tokens <= tokens_);
  tokens_ = tokens;
  const size_t needed = CeilDiv(tokens_, block_tokens_);
  while (blocks_.size() > needed) {
    pool_->Release(blocks_.back());
    blocks_.pop_back();
  }
}

void BlockTable::ShareFrom(const BlockTable& other) {
  ShareFrom(other, other.tokens_);
}

void BlockTable::ShareFrom(const BlockTable& other, int tokens) {
  ATTEND_CHECK(pool_ == other.pool_ && tokens <= other.tokens_);
  if (this == &other) return;
  Clear();
  const int blocks = CeilDiv(tokens, block_tokens_);
  for (int i = 0; i < blocks; ++i) {
    pool_->Retain(other.blocks_[i]);
    blocks_.push_back(other.blocks_[i]);
  }
  tokens_ = tokens;
}

int BlockTable::ShareSealed(absl::Span<const int> tokens, ChainId root) {
  const int had = tokens_;
  int full = tokens_ / block_tokens_;
  while ((full + 1) * block_tokens_ <= static_cast<int>(tokens.size())) {
    std::byte* const block =
        pool_->FindSealed(ChainOf(full, root),
                          tokens.subspan(full * block_tokens_, block_tokens_));
    if (block == nullptr) break;
    if (tokens_ % block_tokens_ != 0) {
      pool_->Release(blocks_.back());
      blocks_.pop_back();
    }
    blocks_.push_back(block);
    tokens_ = ++full * block_tokens_;
  }
  return tokens_ - had;
}

void BlockTable::Seal(absl::Span<const int> tokens, ChainId root) {
  ATTEND_CHECK(static_cast<int>(tokens.size()) == tokens_);
  const int full = tokens_ / block_tokens_;
  int sealed = full;
  while (ChainOf(sealed, root) == kNoChain) --sealed;
  for (int i = sealed; i < full; ++i) {
    pool_->Seal(blocks_[i], ChainOf(i, root),
                tokens.subspan(i * block_tokens_, block_tokens_));
  }
}

bool BlockTable::ShareSource(absl::Span<const int> tokens, uint64_t salt) {
  ATTEND_CHECK(tokens_ == 0);
  if (!pool_->FindSource(tokens, blocks_, salt)) return false;
  tokens_ = static_cast<int>(tokens.size());
  return true;
}

void BlockTable::SealSource(absl::Span<const int> tokens, uint64_t salt) {
  ATTEND_CHECK(static_cast<int>(tokens.size()) == tokens_);
  pool_->SealSource(blocks_, tokens, salt);
}

void BlockTable::Clear() {
  // From the end of the chain, see BlockPool::Release().
  while (!blocks_.empty()) {
    pool_->Release(blocks_.back());
    blocks_.pop_back();
  }
  tokens_ = 0;
}

}  // namespace attend
