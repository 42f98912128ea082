#include "engine/tensor/shared_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace attend {
namespace {

constexpr size_t kLine = 64;
// Only what is given out takes memory, in whole huge pages.
constexpr size_t kChunkBytes = 16 * kHugePageBytes;
// Parts that (nearly) fill huge pages have their own.
constexpr size_t kLargeBytes = kHugePageBytes / 16 * 15;
// The kernel may begin a mapping anywhere in a huge page.
constexpr size_t kMappedBytes = kChunkBytes + kHugePageBytes;

}  // namespace

void SharedPages::Unmap::operator()(char* chunk) const {
  munmap(chunk, kMappedBytes);
}

absl::Span<char> SharedPages::NewChunk() {
  void* const memory =
      mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  char* const mapped = static_cast<char*>(memory);
  std::unique_ptr<char, Unmap> owned(mapped);
  chunks_.push_back(std::move(owned));
  const uintptr_t past = reinterpret_cast<uintptr_t>(mapped) % kHugePageBytes;
  char* const chunk = mapped + (kHugePageBytes - past) % kHugePageBytes;
  // Advice: the kernel may use small pages nevertheless.
  madvise(chunk, kChunkBytes, MADV_HUGEPAGE);
  return {chunk, kChunkBytes};
}

absl::Span<char> SharedPages::Allocate(size_t bytes) {
  if (bytes == 0) return {};
  if (!shared_ || bytes >= kLargeBytes) {
    own_.push_back(shared_ ? Buffer<char>::OfSteps(bytes)
                           : Buffer<char>(bytes));
    return {own_.back().data(), bytes};
  }
  const size_t taken = (bytes + kLine - 1) / kLine * kLine;
  if (taken > rest_.size()) rest_ = NewChunk();
  const absl::Span<char> part = rest_.first(bytes);
  std::memset(part.data(), 0, taken);
  rest_.remove_prefix(taken);
  return part;
}

}  // namespace attend
