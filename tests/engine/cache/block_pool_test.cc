#include "engine/cache/block_pool.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/compute/two_nodes.h"

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

TEST(BlockPoolTest, ReusesTheLastReleasedFirst) {
  BlockPool pool(kLayout, 3 * kLayout.block_bytes());
  std::byte* const a = pool.Allocate();
  std::byte* const b = pool.Allocate();
  std::byte* const c = pool.Allocate();
  pool.Release(b);
  pool.Release(c);
  pool.Release(a);
  EXPECT_EQ(pool.Allocate(), a);
  EXPECT_EQ(pool.Allocate(), c);
  pool.Release(a);
  EXPECT_EQ(pool.Allocate(), a);
  EXPECT_EQ(pool.Allocate(), b);
}

class SealedBlockTest : public ::testing::Test {
 protected:
  static std::vector<int> Tokens(int first) {
    return std::vector<int>(KvLayout::kBlockTokens, first);
  }
  std::byte* Sealed(int tokens) {
    std::byte* const block = pool_.Allocate();
    pool_.Seal(block, ChainRoot(), Tokens(tokens));
    return block;
  }
  std::byte* Find(int tokens) {
    return pool_.FindSealed(ChainRoot(), Tokens(tokens));
  }
  std::vector<std::byte*> FindSource(const std::vector<int>& tokens) {
    std::vector<std::byte*> blocks;
    const bool found = pool_.FindSource(tokens, blocks);
    EXPECT_EQ(found, !blocks.empty());
    return blocks;
  }

  BlockPool pool_{kLayout, 3 * kLayout.block_bytes()};
};

TEST_F(SealedBlockTest, OthersAreReusedFirstThenTheLongestFree) {
  std::byte* const b = pool_.Allocate();
  pool_.SealSource({&b, 1}, {1, 2, 3});
  pool_.Release(b);
  std::byte* const a = Sealed(1);
  std::byte* const c = pool_.Allocate();
  EXPECT_NE(a, b) << "there was one that was never used";
  pool_.Release(a);
  pool_.Release(c);
  EXPECT_EQ(pool_.Allocate(), c);
  EXPECT_EQ(pool_.Allocate(), b);
  EXPECT_EQ(pool_.Allocate(), a);
}

TEST_F(SealedBlockTest, IsSharedWhileItIsUsed) {
  std::byte* const a = Sealed(1);
  EXPECT_EQ(Find(2), nullptr);
  EXPECT_EQ(Find(1), a);
  EXPECT_EQ(pool_.references(a), 2);
  EXPECT_EQ(pool_.used_blocks(), 1);
  pool_.Release(a);
  pool_.Release(a);
  EXPECT_EQ(pool_.free_blocks(), 3);
}

TEST_F(SealedBlockTest, IsFoundAfterItsReleaseUntilItIsReused) {
  std::byte* const a = Sealed(1);
  pool_.Release(a);
  EXPECT_EQ(Find(1), a);
  EXPECT_EQ(pool_.references(a), 1);
  EXPECT_EQ(pool_.free_blocks(), 2);
  pool_.Release(a);
  for (int i = 0; i < 3; ++i) pool_.Allocate();
  EXPECT_EQ(pool_.chain(a), kNoChain);
  EXPECT_EQ(Find(1), nullptr);
}

TEST_F(SealedBlockTest, TheLongestUnusedGoesFirst) {
  std::byte* const a = Sealed(1);
  std::byte* const b = Sealed(2);
  std::byte* const c = Sealed(3);
  for (std::byte* block : {a, b, c}) pool_.Release(block);
  // Out of the middle, out of the front, and back to the end.
  for (int tokens : {2, 1}) pool_.Release(Find(tokens));
  EXPECT_EQ(pool_.Allocate(), c);
  EXPECT_EQ(pool_.Allocate(), b);
  EXPECT_EQ(Find(3), nullptr);
  EXPECT_EQ(Find(2), nullptr);
  EXPECT_EQ(Find(1), a);
  EXPECT_EQ(pool_.free_blocks(), 0);
}

TEST_F(SealedBlockTest, CopiesAreNotSealed) {
  std::byte* const a = Sealed(1);
  std::byte* const copy = pool_.Copy(a, 3);
  EXPECT_EQ(pool_.chain(copy), kNoChain);
  EXPECT_EQ(Find(1), a);
}

// The bytes of a block's first values, which Copy() copies.
std::byte* ValuesOf(std::byte* block) { return block + kLayout.values_at(); }

TEST(BlockPoolTest, CopiesAreFinishedTogether) {
  Compute compute({.threads = 2});
  BlockPool pool(kLayout, 8 * kLayout.block_bytes());
  std::vector<std::byte*> blocks, copies;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(pool.Allocate());
    *ValuesOf(blocks.back()) = std::byte(i + 1);
  }
  for (std::byte* block : blocks) copies.push_back(pool.Copy(block, 3));
  pool.FinishCopies(compute);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(*ValuesOf(copies[i]), std::byte(i + 1));
  // They are not copied again.
  for (std::byte* copy : copies) *ValuesOf(copy) = std::byte(9);
  pool.FinishCopies(compute);
  for (std::byte* copy : copies) EXPECT_EQ(*ValuesOf(copy), std::byte(9));
}

TEST(BlockPoolTest, AsManyCopiesAsThereAreBlocks) {
  Compute compute({.threads = 2});
  constexpr int kCopies = 1100;
  BlockPool pool(kLayout, (kCopies + 1) * kLayout.block_bytes());
  std::byte* const from = pool.Allocate();
  *ValuesOf(from) = std::byte(1);
  std::vector<std::byte*> copies;
  for (int i = 0; i < kCopies; ++i) copies.push_back(pool.Copy(from, 1));
  pool.FinishCopies(compute);
  for (std::byte* copy : copies) ASSERT_EQ(*ValuesOf(copy), std::byte(1));
}

TEST(BlockPoolTest, ACopyMayBeCopied) {
  Compute compute({.threads = 2});
  BlockPool pool(kLayout, 8 * kLayout.block_bytes());
  std::vector<std::byte*> copies = {pool.Allocate()};
  *ValuesOf(copies[0]) = std::byte(1);
  for (int i = 0; i < 7; ++i) copies.push_back(pool.Copy(copies.back(), 1));
  pool.FinishCopies(compute);
  for (std::byte* copy : copies) EXPECT_EQ(*ValuesOf(copy), std::byte(1));
}

TEST_F(SealedBlockTest, ABlockIsCopiedBeforeItIsUsedAnew) {
  Compute compute({.threads = 1});
  std::byte* const a = pool_.Allocate();
  *ValuesOf(a) = std::byte(1);
  std::byte* const copy = pool_.Copy(a, 3);
  pool_.Release(a);
  ASSERT_EQ(pool_.Allocate(), a);
  *ValuesOf(a) = std::byte(2);
  pool_.FinishCopies(compute);
  EXPECT_EQ(*ValuesOf(copy), std::byte(1));
  // Nobody needs a copy that was released; its block has another user.
  std::byte* const other = pool_.Copy(a, 3);
  pool_.Release(other);
  ASSERT_EQ(pool_.Allocate(), other);
  *ValuesOf(other) = std::byte(3);
  pool_.FinishCopies(compute);
  EXPECT_EQ(*ValuesOf(other), std::byte(3));
}

TEST_F(SealedBlockTest, UnsealAllForgetsThoseInUseToo) {
  std::byte* const a = Sealed(1);
  pool_.Release(Sealed(2));
  pool_.UnsealAll();
  EXPECT_EQ(Find(1), nullptr);
  EXPECT_EQ(Find(2), nullptr);
  EXPECT_EQ(pool_.references(a), 1);
  pool_.Seal(a, ChainRoot(), Tokens(1));
  EXPECT_EQ(Find(1), a);
}

TEST_F(SealedBlockTest, ASourceIsFoundUntilABlockOfItIsReused) {
  const std::vector<int> tokens(KvLayout::kBlockTokens + 1, 5);
  const std::vector<std::byte*> source = {pool_.Allocate(), pool_.Allocate()};
  std::byte* const other = pool_.Allocate();
  pool_.SealSource(source, tokens);
  EXPECT_EQ(FindSource(tokens), source);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pool_.references(source[i]), 2);
    pool_.Release(source[i]);
    pool_.Release(source[i]);
  }
  pool_.Release(other);
  EXPECT_EQ(FindSource(tokens), source);
  EXPECT_EQ(pool_.free_blocks(), 1);
  for (std::byte* block : source) pool_.Release(block);
  EXPECT_EQ(pool_.Allocate(), other);
  EXPECT_EQ(pool_.Allocate(), source[0]);
  EXPECT_TRUE(FindSource(tokens).empty());
  // As a block of no source, the other one may be of a new one.
  EXPECT_EQ(pool_.Allocate(), source[1]);
  pool_.SealSource({&source[1], 1}, {5});
  EXPECT_EQ(FindSource({5}), std::vector<std::byte*>{source[1]});
}

TEST_F(SealedBlockTest, UnsealAllForgetsSources) {
  std::byte* const a = pool_.Allocate();
  pool_.SealSource({&a, 1}, {5});
  pool_.UnsealAll();
  EXPECT_TRUE(FindSource({5}).empty());
  pool_.SealSource({&a, 1}, {5});
  EXPECT_EQ(FindSource({5}), std::vector<std::byte*>{a});
}

TEST_F(SealedBlockTest, MisuseIsCaught) {
  std::byte* const a = Sealed(1);
  EXPECT_DEATH(pool_.Seal(a, ChainRoot(), Tokens(1)), "check failed");
  std::byte* const b = pool_.Allocate();
  EXPECT_DEATH(pool_.Seal(b, kNoChain, Tokens(1)), "check failed");
  EXPECT_DEATH(pool_.Seal(b, ChainRoot(), {}), "check failed");
  pool_.Release(b);
  EXPECT_DEATH(pool_.Seal(b, ChainRoot(), Tokens(1)), "check failed");
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

constexpr size_t kLarge = size_t{80} << 20;  // touched by another thread

TEST(BlockPoolTest, BlocksInTurnsOfTwoNodesAreBlocks) {
  const size_t block = kLayout.block_bytes();
  BlockPool pool(kLayout, kLarge);
  pool.PlaceFor(Team(2, NumaNodes(TwoNodes())));
  const int blocks = pool.total_blocks();
  for (int i = 0; i < blocks; ++i) {
    std::byte* const bytes = pool.Allocate();
    EXPECT_EQ(bytes[0], std::byte{0});
    std::fill_n(bytes, block, std::byte{1});
  }
  EXPECT_EQ(pool.free_blocks(), 0);
}

// All blocks are taken in far less time than they are touched in.
TEST(BlockPoolTest, NewBlocksAreWaitedFor) {
  // Memory that nobody has touched is no zeros, then.
  mallopt(M_PERTURB, 0x55);
  BlockPool pool(kLayout, kLarge);
  mallopt(M_PERTURB, 0);
  std::byte* last = nullptr;
  while (pool.free_blocks() > 0) last = pool.Allocate();
  const size_t bytes = kLayout.block_bytes();
  EXPECT_EQ(std::count(last, last + bytes, std::byte{0}), bytes);
}

// AddressSanitizer would find a thread that goes on.
TEST(BlockPoolTest, MayEndBeforeAllBlocksAreTouched) {
  BlockPool(kLayout, kLarge).Allocate();
}

}  // namespace
}  // namespace attend
