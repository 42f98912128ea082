#ifndef ATTEND_TESTS_SUPPORT_RESIDENT_BYTES_H_
#define ATTEND_TESTS_SUPPORT_RESIDENT_BYTES_H_

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace attend {

// Memory of the process that is in RAM. A sanitizer keeps freed memory.
inline int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_RESIDENT_BYTES_H_
