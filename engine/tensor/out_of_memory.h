#ifndef ATTEND_ENGINE_TENSOR_OUT_OF_MEMORY_H_
#define ATTEND_ENGINE_TENSOR_OUT_OF_MEMORY_H_

#include <cstddef>
#include <new>

#include "absl/status/status.h"

namespace attend {

// Returns RESOURCE_EXHAUSTED for a failed allocation. Allocates nothing,
// because the status is created before main().
absl::Status OutOfMemory();

// Returns OutOfMemory() if `bytes` cannot be allocated now. For code that
// aborts on a failed allocation. Allocates nothing.
absl::Status CheckRoomFor(size_t bytes);

// Returns the result of `work`, a Status or a StatusOr, or OutOfMemory() if an
// allocation in it failed. For boundaries at which a request, a step or a model
// can fail alone: code within them throws std::bad_alloc, as the standard
// library does.
template <class Work>
auto CatchOutOfMemory(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_OUT_OF_MEMORY_H_
