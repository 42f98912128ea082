#include "engine/cache/source_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/hash/hash.h"
#include "engine/tensor/check.h"

namespace attend {

uint64_t SourceIndex::DefaultHash(absl::Span<const int> tokens, uint64_t salt) {
  return absl::HashOf(tokens, salt);
}

SourceIndex::SourceIndex(int blocks, int block_tokens, Hash hash)
    : block_tokens_(block_tokens),
      hash_(hash),
      first_(blocks, kNone),
      next_(blocks, kNone),
      lengths_(blocks, 0),
      salts_(blocks, 0),
      tokens_(static_cast<size_t>(blocks) * block_tokens),
      buckets_(std::bit_ceil(static_cast<size_t>(blocks) + 1), kNone),
      bucket_of_(blocks, 0),
      next_in_bucket_(blocks, kNone) {}

size_t SourceIndex::BucketOf(absl::Span<const int> tokens,
                             uint64_t salt) const {
  return hash_(tokens, salt) & (buckets_.size() - 1);
}

bool SourceIndex::Holds(int first, absl::Span<const int> tokens,
                        uint64_t salt) const {
  if (lengths_[first] != static_cast<int>(tokens.size()) ||
      salts_[first] != salt) {
    return false;
  }
  for (int block = first; block != kNone; block = next_[block]) {
    const absl::Span<const int> in_block = tokens.subspan(0, block_tokens_);
    if (!std::equal(
            in_block.begin(), in_block.end(),
            tokens_.begin() + static_cast<size_t>(block) * block_tokens_)) {
      return false;
    }
    tokens.remove_prefix(in_block.size());
  }
  return true;
}

int SourceIndex::Find(absl::Span<const int> tokens, uint64_t salt) const {
  int first = buckets_[BucketOf(tokens, salt)];
  while (first != kNone && !Holds(first, tokens, salt)) {
    first = next_in_bucket_[first];
  }
  return first;
}

void SourceIndex::Seal(absl::Span<const int> blocks,
                       absl::Span<const int> tokens, uint64_t salt) {
  const size_t full = (blocks.size() - 1) * block_tokens_;
  ATTEND_CHECK(full < tokens.size() && tokens.size() <= full + block_tokens_);
  if (const int same = Find(tokens, salt); same != kNone) Forget(same);
  const int first = blocks.front();
  lengths_[first] = static_cast<int>(tokens.size());
  salts_[first] = salt;
  bucket_of_[first] = static_cast<int>(BucketOf(tokens, salt));
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int block = blocks[i];
    ATTEND_CHECK(first_[block] == kNone);
    first_[block] = first;
    next_[block] = i + 1 < blocks.size() ? blocks[i + 1] : kNone;
    const absl::Span<const int> in_block =
        tokens.subspan(i * block_tokens_, block_tokens_);
    std::copy(in_block.begin(), in_block.end(),
              tokens_.begin() + static_cast<size_t>(block) * block_tokens_);
  }
  next_in_bucket_[first] = std::exchange(buckets_[bucket_of_[first]], first);
}

void SourceIndex::Forget(int block) {
  const int first = first_[block];
  if (first == kNone) return;
  int* link = &buckets_[bucket_of_[first]];
  while (*link != first) link = &next_in_bucket_[*link];
  *link = next_in_bucket_[first];
  for (int i = first; i != kNone; i = next_[i]) first_[i] = kNone;
}

void SourceIndex::ForgetAll() {
  std::fill(first_.begin(), first_.end(), kNone);
  std::fill(buckets_.begin(), buckets_.end(), kNone);
}

}  // namespace attend
