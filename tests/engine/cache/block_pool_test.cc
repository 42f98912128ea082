#include "engine/cache/block_pool.h"

#include <vector>

#include "engine/ops/kv_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr KvLayout kLayout{.layers = 2, .kv_heads = 2, .head_dim = 8};

TEST(BlockPoolTest, HoldsAsManyBlocksAsTheLimit) {
  const size_t block = kLayout.block_bytes();
  EXPECT_EQ(block, 2u * 2 * 8 * 16 * 2 * sizeof(float));
  EXPECT_EQ(BlockPool(kLayout, 5 * block).total_blocks(), 5);
  EXPECT_EQ(BlockPool(kLayout, 6 * block - 1).total_blocks(), 5);
  EXPECT_EQ(BlockPool(kLayout, block - 1).total_blocks(), 0);
}

TEST(BlockPoolTest, CountsUsedAndFree) {
  BlockPool pool(kLayout, 3 * kLayout.block_bytes());
  std::byte* const a = pool.Allocate();
  std::byte* const b = pool.Allocate();
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.used_blocks(), 2);
  EXPECT_EQ(pool.free_blocks(), 1);
  pool.Release(a);
  EXPECT_EQ(pool.used_blocks(), 1);
  pool.Release(b);
  EXPECT_EQ(pool.free_blocks(), 3);
}

TEST(BlockPoolTest, LastReleaseFrees) {
  BlockPool pool(kLayout, kLayout.block_bytes());
  std::byte* const block = pool.Allocate();
  pool.Retain(block);
  EXPECT_EQ(pool.references(block), 2);
  pool.Release(block);
  EXPECT_EQ(pool.free_blocks(), 0);
  pool.Release(block);
  EXPECT_EQ(pool.references(block), 0);
  EXPECT_EQ(pool.free_blocks(), 1);
}

TEST(BlockPoolTest, ReusesTheLongestFreeFirst) {
  BlockPool pool(kLayout, 3 * kLayout.block_bytes());
  std::byte* const a = pool.Allocate();
  std::byte* const b = pool.Allocate();
  std::byte* const c = pool.Allocate();
  pool.Release(b);
  pool.Release(c);
  pool.Release(a);
  EXPECT_EQ(pool.Allocate(), b);
  EXPECT_EQ(pool.Allocate(), c);
  pool.Release(b);
  EXPECT_EQ(pool.Allocate(), a);
  EXPECT_EQ(pool.Allocate(), b);
}

TEST(BlockPoolTest, BlocksDoNotOverlapAndAreAligned) {
  BlockPool pool(kLayout, 4 * kLayout.block_bytes());
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.Allocate());
  std::sort(blocks.begin(), blocks.end());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[i]) % 64, 0u);
    if (i > 0) {
      EXPECT_EQ(static_cast<size_t>(blocks[i] - blocks[i - 1]),
                kLayout.block_bytes());
    }
  }
}

TEST(BlockPoolDeathTest, MisuseIsCaught) {
  BlockPool pool(kLayout, kLayout.block_bytes());
  std::byte* const block = pool.Allocate();
  EXPECT_DEATH(pool.Allocate(), "check failed");
  EXPECT_DEATH(pool.Release(block + 1), "check failed");
  pool.Release(block);
  EXPECT_DEATH(pool.Release(block), "check failed");
  EXPECT_DEATH(pool.Retain(block), "check failed");
}

}  // namespace
}  // namespace attend
