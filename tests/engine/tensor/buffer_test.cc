#include "engine/tensor/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/tensor/huge_pages.h"

namespace attend {
namespace {

uintptr_t AddressOf(const Buffer<char>& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data());
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
  if (!HasHugePages()) GTEST_SKIP() << "the kernel has none";
  const Buffer<char> buffer(3 * kHugePageBytes);
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(buffer)));
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(buffer) + 3 * kHugePageBytes - 1));

  const Buffer<char> half = Buffer<char>::OfSteps(kHugePageBytes / 2);
  EXPECT_EQ(half.size(), kHugePageBytes / 2);
  EXPECT_EQ(AddressOf(half) % kHugePageBytes, 0u);
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(half)));
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(half) + kHugePageBytes - 1));
}

}  // namespace
}  // namespace attend
