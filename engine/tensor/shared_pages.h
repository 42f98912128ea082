#ifndef ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_
#define ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/buffer.h"

namespace attend {

// Owns memory for many small allocations of a model, packed into huge pages if
// the kernel allows it. A translation of 64 rows with weights in L3 or memory
// then takes 7 to 15 % less time: on a virtual machine, a TLB miss costs as
// much as ten cache lines. Not for allocations that are freed earlier than the
// rest.
class SharedPages {
 public:
  // Not shared: each allocation has separate pages, for callers that place them
  // in NUMA nodes.
  explicit SharedPages(bool shared) : shared_(shared) {}

  // Allocates zeroed, 64-byte aligned memory that lives as long as this object.
  // All of the memory is touched, so no request pays for a page fault. Throws
  // std::bad_alloc.
  absl::Span<char> Allocate(size_t bytes);

 private:
  struct Unmap {
    void operator()(char* chunk) const;
  };
  absl::Span<char> NewChunk();

  bool shared_;
  std::vector<Buffer<char>> own_;  // large allocations, or all if not shared
  std::vector<std::unique_ptr<char, Unmap>> chunks_;
  absl::Span<char> rest_;  // the free end of the last chunk
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_SHARED_PAGES_H_
