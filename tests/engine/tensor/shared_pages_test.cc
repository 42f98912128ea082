#include "engine/tensor/shared_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/tensor/buffer.h"
#include "tests/engine/tensor/huge_pages.h"

namespace attend {
namespace {

uintptr_t AddressOf(absl::Span<char> part) {
  return reinterpret_cast<uintptr_t>(part.data());
}

TEST(SharedPagesTest, PartsAreZeroAlignedAndApart) {
  for (const bool shared : {true, false}) {
    SharedPages pages(shared);
    std::vector<absl::Span<char>> parts;
    // More than one chunk; parts that are larger than what is left of one.
    for (int i = 0; i < 24; ++i) {
      for (const size_t bytes :
           {size_t{1}, size_t{4097}, kHugePageBytes / 4 * 3, kHugePageBytes - 1,
            kHugePageBytes + 65}) {
        const absl::Span<char> part = pages.Allocate(bytes);
        ASSERT_EQ(part.size(), bytes);
        ASSERT_EQ(AddressOf(part) % 64, 0u);
        ASSERT_TRUE(std::all_of(part.begin(), part.end(),
                                [](char c) { return c == 0; }));
        std::memset(part.data(), static_cast<int>(parts.size()) + 1, bytes);
        parts.push_back(part);
      }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      ASSERT_TRUE(std::all_of(parts[i].begin(), parts[i].end(), [&](char c) {
        return c == static_cast<char>(i + 1);
      }));
    }
  }
  EXPECT_TRUE(SharedPages(true).Allocate(0).empty());
}

TEST(SharedPagesTest, SmallPartsAreInHugePages) {
  if (!HasHugePages()) GTEST_SKIP() << "the kernel has none";
  SharedPages pages(true);
  const uintptr_t first = AddressOf(pages.Allocate(1000));
  EXPECT_EQ(first % kHugePageBytes, 0u);
  EXPECT_TRUE(IsAdvisedHuge(first));
  EXPECT_EQ(AddressOf(pages.Allocate(1000)), first + 1024);
  // A large one does not end what others share.
  EXPECT_TRUE(IsAdvisedHuge(AddressOf(pages.Allocate(8 * kHugePageBytes))));
  EXPECT_EQ(AddressOf(pages.Allocate(1)), first + 2048);
}

TEST(SharedPagesTest, WithoutSharingAPartHasItsOwn) {
  SharedPages pages(false);
  const uintptr_t large = AddressOf(pages.Allocate(kHugePageBytes));
  EXPECT_EQ(large % kHugePageBytes, 0u);
  const uintptr_t next = AddressOf(pages.Allocate(kHugePageBytes));
  EXPECT_EQ(next % kHugePageBytes, 0u);
  EXPECT_NE(next, large);
}

}  // namespace
}  // namespace attend
