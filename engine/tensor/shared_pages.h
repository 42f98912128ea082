#ifndef ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_
#define ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/buffer.h"

namespace attend {

// Owns memory that many parts of a model share, each too small for a huge page
// of its own: it is in huge pages if the kernel allows it. A translation of 64
// rows then takes 7 to 15 % less time, whose weights come from L3 or memory: in
// a virtual machine a page that the CPU has to look up costs as much as ten
// cache lines. Not for what is freed earlier than the rest.
class SharedPages {
 public:
  // Not shared: each part has pages of its own, for callers that place them.
  explicit SharedPages(bool shared) : shared_(shared) {}

  // Zeros, at a 64-byte boundary, that live as long as this. All of the memory
  // is written, so that no request pays for a page fault. Throws
  // std::bad_alloc.
  absl::Span<char> Allocate(size_t bytes);

 private:
  struct Unmap {
    void operator()(char* chunk) const;
  };
  absl::Span<char> NewChunk();

  bool shared_;
  std::vector<Buffer<char>> own_;  // large parts, or all, if not shared
  std::vector<std::unique_ptr<char, Unmap>> chunks_;
  absl::Span<char> rest_;  // of the last chunk, what nobody has
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_
