#ifndef ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
#define ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_

namespace attend {

// Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign and
// mmap by any thread of the process, libraries included, between Start() and
// Stop(). (Under sanitizers: what their allocators are asked for.) A test links
// the source file of this into its binary.
class AllocationCount {
 public:
  static void Start();
  static long Stop();  // the count
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_ALLOCATION_COUNT_H_
