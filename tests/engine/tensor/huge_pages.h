#ifndef ATTEND_TESTS_ENGINE_TENSOR_HUGE_PAGES_H_
#define ATTEND_TESTS_ENGINE_TENSOR_HUGE_PAGES_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace attend {

inline bool HasHugePages() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
}

// Whether the kernel was asked for huge pages at an address: the flag "hg" of
// its mapping, see proc(5).
inline bool IsAdvisedHuge(uintptr_t address) {
  std::ifstream mappings("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(mappings, line);) {
    uintptr_t begin, end;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) ==
        2) {
      inside = begin <= address && address < end;
    }
    if (inside && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TENSOR_HUGE_PAGES_H_
