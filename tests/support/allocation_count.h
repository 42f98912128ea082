#ifndef ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
#define ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_

#include <cstddef>

namespace attend {

// Calls of operator new, malloc, calloc, realloc, aligned_alloc, memalign,
// posix_memalign and mmap by any thread of the process, libraries included,
// between Start() and Stop(). A test links the source file of this into its
// binary; not in builds with sanitizers, which replace the same functions.
struct AllocationCount {
  // Asked for by anybody but oneDNN.
  long ours = 0;
  // Asked for inside of oneDNN: its execute() puts the arguments of a primitive
  // in a map of its own, which no interface of it avoids.
  long onednn = 0;
  // Bytes of the largest one, but for mappings.
  size_t largest = 0;

  static void Start();
  static AllocationCount Stop();
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
