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

// Lets one allocation fail: a call of operator new, posix_memalign or mmap, by
// any thread, in any library that calls those of the executable. What uses
// malloc alone, as C and Rust do, gets its memory.
struct AllocationFault {
  // From now on the `nth` allocation of at least `bytes` will fail; the first
  // is 0.
  static void Arm(long nth, size_t bytes = 0);
  // Ends that. Whether one has failed.
  static bool Disarm();
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
