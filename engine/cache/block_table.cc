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
  // A swap, so that both keep a reserved vector.
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
  tokens_ += tokens;
  const size_t needed = CeilDiv(tokens_, block_tokens_);
  while (blocks_.size() < needed) blocks_.push_back(pool_->Allocate());
  return first;
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

double BlockTable::BlockShare() const {
  double share = 0;
  for (const std::byte* block : blocks_)
    share += 1.0 / pool_->references(block);
  return share;
}

void BlockTable::Clear() {
  for (std::byte* block : blocks_) pool_->Release(block);
  blocks_.clear();
  tokens_ = 0;
}

}  // namespace attend
