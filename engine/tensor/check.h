#ifndef ATTEND_ENGINE_TENSOR_CHECK_H_
#define ATTEND_ENGINE_TENSOR_CHECK_H_

#include <cstdio>
#include <cstdlib>

// Aborts if the condition is false, and prints the place and the condition. For
// bugs of this program only: an error that a caller or the world can cause is
// an absl::Status. Of the file its name alone: programs are equal wherever they
// are built.
#define ATTEND_CHECK(condition)                                        \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE_NAME__, \
                   __LINE__, #condition);                              \
      std::abort();                                                    \
    }                                                                  \
  } while (false)

#endif  // ATTEND_ENGINE_TENSOR_CHECK_H_
