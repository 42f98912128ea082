#ifndef ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_
#define ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// Finds the blocks of a pool, by number, that hold what an encoder made of a
// source, by all of its tokens: an encoder looks both ways, so that nothing of
// it is of use to a source that only begins like it. The tokens are compared,
// not only their hash. All memory is taken at creation. Not thread-safe.
class SourceIndex {
 public:
  using Hash = uint64_t (*)(absl::Span<const int> tokens);
  static uint64_t DefaultHash(absl::Span<const int> tokens);
  static constexpr int kNone = -1;

  SourceIndex(int blocks, int block_tokens, Hash hash = DefaultHash);

  // `blocks`, none of which is of a source yet, hold the source of these
  // tokens, block_tokens in each but the last. They are found in place of
  // others that hold the same.
  void Seal(absl::Span<const int> blocks, absl::Span<const int> tokens);
  // The first block of the source of these tokens, or kNone.
  int Find(absl::Span<const int> tokens) const;
  // Of a block that was found, the next one of its source; kNone: the last.
  int next(int block) const { return next_[block]; }
  // The contents of a block are about to change: its source, if it is of one,
  // is not found any more.
  void Forget(int block);
  void ForgetAll();

 private:
  bool Holds(int first, absl::Span<const int> tokens) const;
  size_t BucketOf(absl::Span<const int> tokens) const;

  const int block_tokens_;
  const Hash hash_;
  std::vector<int> first_;    // [blocks], of its source; kNone: of no one
  std::vector<int> next_;     // [blocks]
  std::vector<int> lengths_;  // [blocks], of the source that begins there
  std::vector<int> tokens_;   // [blocks, block_tokens]
  // First blocks by hash: the beginning of each list, and how it goes on.
  std::vector<int> buckets_;         // [a power of two]
  std::vector<int> bucket_of_;       // [blocks]
  std::vector<int> next_in_bucket_;  // [blocks]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_SOURCE_INDEX_H_
