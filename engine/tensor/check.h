#ifndef ATTEND_ENGINE_TENSOR_CHECK_H_
#define ATTEND_ENGINE_TENSOR_CHECK_H_

#include <cstdio>
#include <cstdlib>

// Prints the location and the condition and aborts if the condition is false.
// For bugs of this program only: an error with an external cause is an
// absl::Status. The file is printed without its directory, so binaries do not
// depend on the build directory.
#define ATTEND_CHECK(condition)                                        \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE_NAME__, \
                   __LINE__, #condition);                              \
      std::abort();                                                    \
    }                                                                  \
  } while (false)

#endif  // ATTEND_ENGINE_TENSOR_CHECK_H_
