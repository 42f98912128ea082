#include "engine/tensor/buffer.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace attend {
namespace {

uintptr_t AddressOf(const Buffer<char>& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data());
}

// Whether the kernel was asked for huge pages at an address: the flag "hg" of
// its mapping, see proc(5).
bool IsAdvisedHuge(uintptr_t address) {
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

TEST(BufferTest, IsZeroAndAligned) {
  for (const size_t bytes : {size_t{1}, size_t{65}, kHugePageBytes - 1,
                             kHugePageBytes, 2 * kHugePageBytes + 4097}) {
    const Buffer<char> buffer(bytes);
    ASSERT_EQ(buffer.size(), bytes);
    EXPECT_EQ(
        AddressOf(buffer) % (bytes < kHugePageBytes ? 64 : kHugePageBytes), 0u);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(buffer[i], 0);
  }
  EXPECT_EQ(Buffer<char>().size(), 0u);
}

TEST(BufferTest, LargeOnesAskForHugePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "the kernel has none";
  }
  const Buffer<char> buffer(3 * kHugePageBytes);
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(buffer)));
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(buffer) + 3 * kHugePageBytes - 1));
}

}  // namespace
}  // namespace attend
