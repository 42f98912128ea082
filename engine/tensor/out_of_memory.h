#ifndef ATTEND_ENGINE_TENSOR_OUT_OF_MEMORY_H_
#define ATTEND_ENGINE_TENSOR_OUT_OF_MEMORY_H_

#include <cstddef>
#include <new>

#include "absl/status/status.h"

namespace attend {

// RESOURCE_EXHAUSTED: the system gives no more memory. Takes none itself, since
// it is made before main().
absl::Status OutOfMemory();

// OutOfMemory() if the system would not give `bytes` now. For code that ends
// the process where it gets no memory. Takes none.
absl::Status CheckRoomFor(size_t bytes);

// What `work` returns, a Status or a StatusOr; OutOfMemory() where an
// allocation failed in it. For the edges at which a request, a step or a model
// can end alone: what is between them throws std::bad_alloc, as the standard
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
