#ifndef ATTEND_TESTS_SUPPORT_BYTES_IN_USE_H_
#define ATTEND_TESTS_SUPPORT_BYTES_IN_USE_H_

#include <malloc.h>

#include <cstddef>

namespace attend {

// What the process has allocated and not freed. Not in builds with sanitizers,
// which have allocators of their own.
inline size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_BYTES_IN_USE_H_
