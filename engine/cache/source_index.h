#ifndef ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_
#define ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Finds the numbers of a pool's blocks that hold the keys and values of a
// source (made of the encoder's output), by all tokens of that source. An
// encoder looks both ways, so the blocks are of no use to a source that only
// begins alike. The tokens are compared, not only their hash. Sources of
// different salts are apart: see EngineRequest::cache_salt. All memory is taken
// at creation. Not thread-safe.
class SourceIndex {
 public:
  using Hash = uint64_t (*)(absl::Span<const int> tokens, uint64_t salt);
  static uint64_t DefaultHash(absl::Span<const int> tokens, uint64_t salt);
  static constexpr int kNone = -1;

  SourceIndex(int blocks, int block_tokens, Hash hash = DefaultHash);

  // Records that `blocks`, none of which belongs to a source yet, hold the
  // source `tokens`: block_tokens tokens each, the last block maybe fewer. If
  // other blocks hold the same source, the new ones are found in their place.
  void Seal(absl::Span<const int> blocks, absl::Span<const int> tokens,
            uint64_t salt = 0);
  // The first block of the source of these tokens, or kNone.
  int Find(absl::Span<const int> tokens, uint64_t salt = 0) const;
  // The block that follows `block` in its source; kNone after the last one.
  int next(int block) const { return next_[block]; }
  bool has_source(int block) const { return first_[block] != kNone; }
  // To be called before the contents of a block change: if the block belongs to
  // a source, that source is no longer found.
  void Forget(int block);
  void ForgetAll();

 private:
  bool Holds(int first, absl::Span<const int> tokens, uint64_t salt) const;
  size_t BucketOf(absl::Span<const int> tokens, uint64_t salt) const;

  const int block_tokens_;
  const Hash hash_;
  // [blocks]: the first block of the block's source; kNone: it has no source.
  std::vector<int> first_;
  std::vector<int> next_;  // [blocks]
  std::vector<int>
      lengths_;  // [blocks]: tokens of the source that begins there
  std::vector<uint64_t> salts_;  // [blocks]: likewise
  std::vector<int> tokens_;      // [blocks, block_tokens]
  // Lists of first blocks by hash: where each list begins, and what follows.
  std::vector<int> buckets_;         // [a power of two]
  std::vector<int> bucket_of_;       // [blocks]
  std::vector<int> next_in_bucket_;  // [blocks]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_
