#ifndef ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
#define ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_

#include <cstddef>

namespace attend {

// Calls of operator new, malloc, calloc, realloc, aligned_alloc, memalign,
// posix_memalign and mmap between Start() and Stop(), by all threads of the
// process and all libraries. A test links allocation_count.cc into its binary.
// Not in builds with sanitizers, which replace the same functions.
struct AllocationCount {
  // Calls outside of oneDNN.
  long ours = 0;
  // Calls inside of oneDNN: execute() puts the arguments of a primitive in a
  // map, which no interface of oneDNN avoids.
  long onednn = 0;
  // Bytes of the largest allocation; mappings do not count.
  size_t largest = 0;

  static void Start();
  static AllocationCount Stop();
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
