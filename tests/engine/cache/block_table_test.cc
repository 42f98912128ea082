#include "engine/cache/block_table.h"

#include <utility>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention_context.h"

namespace attend {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr KvLayout kLayout{.layers = 2, .kv_heads = 2, .head_dim = 8};
constexpr int kTokens = KvLayout::kBlockTokens;
// Bytes of one token's keys and values in all layers.

std::vector<std::byte*> Blocks(const BlockTable& table) {
  return {table.blocks().begin(), table.blocks().end()};
}

class BlockTableTest : public ::testing::Test {
 protected:
  // Appends one token whose keys and values are all `x`.
  void Append(BlockTable& table, float x) {
    const int token = table.PrepareAppend(1);
    pool_.FinishCopies(compute_);
    const std::vector<float> row(2 * 8, x);
    const KvWrite write{
        .rows = 1, .blocks = table.blocks(), .first_token = token};
    for (int layer = 0; layer < kLayout.layers; ++layer) {
      WriteKv(compute_, {.layout = &kLayout,
                         .layer = layer,
                         .key = row.data(),
                         .value = row.data(),
                         .stride = 2 * 8,
                         .writes = {&write, 1}});
    }
  }
  // The value of token `token`, read through attention with one key: shares
  // nothing with how blocks lie in memory.
  float At(const BlockTable& table, int token) {
    const std::vector<float> query(2 * 8, 0.0f);
    std::vector<float> dst(2 * 8);
    // All keys weigh the same, so sums of prefixes differ by the value.
    const auto sum = [&](int keys) {
      const AttentionPiece piece{
          .rows = 1, .blocks = table.blocks(), .keys = keys};
      const AttentionRules rules = {.scale = 1};
      Attention(context_.get(), {.rules = &rules,
                                 .layout = &kLayout,
                                 .layer = 1,
                                 .heads = 2,
                                 .query = query.data(),
                                 .query_stride = 2 * 8,
                                 .pieces = {&piece, 1},
                                 .dst = {dst.data(), 1, 2 * 8}});
      return dst[0] * static_cast<float>(keys);
    };
    return sum(token + 1) - sum(token);
  }

  BlockPool pool_{kLayout, 40 * kLayout.block_bytes()};
  Compute compute_{ComputeOptions{.threads = 1}};
  AttentionContext context_{compute_};
};

TEST_F(BlockTableTest, TakesABlockWhenTheLastIsFull) {
  BlockTable table(pool_, 100);
  EXPECT_EQ(table.tokens(), 0);
  EXPECT_THAT(table.blocks(), IsEmpty());
  EXPECT_EQ(table.BlocksToAppend(0), 0);
  EXPECT_EQ(table.BlocksToAppend(1), 1);
  EXPECT_EQ(table.BlocksToAppend(kTokens), 1);
  EXPECT_EQ(table.BlocksToAppend(kTokens + 1), 2);
  EXPECT_EQ(table.PrepareAppend(5), 0);
  EXPECT_EQ(pool_.used_blocks(), 1);
  EXPECT_EQ(table.BlocksToAppend(kTokens - 5), 0);
  EXPECT_EQ(table.PrepareAppend(kTokens - 5), 5);
  EXPECT_EQ(pool_.used_blocks(), 1);
  EXPECT_EQ(table.PrepareAppend(2 * kTokens + 1), kTokens);
  EXPECT_EQ(table.tokens(), 3 * kTokens + 1);
  EXPECT_EQ(table.blocks().size(), 4u);
  EXPECT_EQ(pool_.used_blocks(), 4);
}

TEST_F(BlockTableTest, GivesBackOnDestructionAndClear) {
  {
    BlockTable table(pool_, 100);
    table.PrepareAppend(40);
    EXPECT_EQ(pool_.used_blocks(), 3);
    table.Clear();
    EXPECT_EQ(pool_.used_blocks(), 0);
    EXPECT_EQ(table.tokens(), 0);
    table.PrepareAppend(40);
  }
  EXPECT_EQ(pool_.used_blocks(), 0);
}

TEST_F(BlockTableTest, MoveTakesTheBlocks) {
  BlockTable a(pool_, 100);
  a.PrepareAppend(20);
  const std::vector<std::byte*> blocks = Blocks(a);
  BlockTable b(std::move(a));
  EXPECT_THAT(Blocks(b), ElementsAreArray(blocks));
  BlockTable c(pool_, 100);
  c.PrepareAppend(50);
  c = std::move(b);
  EXPECT_THAT(Blocks(c), ElementsAreArray(blocks));
  EXPECT_EQ(c.tokens(), 20);
  EXPECT_EQ(pool_.used_blocks(), 2);
}

TEST_F(BlockTableTest, PoolHoldsShortSequencesThatMaximumReservationCouldNot) {
  constexpr int kMaxTokens = 160;  // of a sequence: 10 blocks
  constexpr int kSequences = 20;
  const int reserved = kSequences * (kMaxTokens / kTokens);
  ASSERT_GT(reserved, pool_.total_blocks());
  std::vector<BlockTable> tables;
  for (int i = 0; i < kSequences; ++i) {
    tables.emplace_back(pool_, kMaxTokens);
    ASSERT_LE(tables.back().BlocksToAppend(kTokens + 4), pool_.free_blocks());
    tables.back().PrepareAppend(kTokens + 4);
  }
  EXPECT_EQ(pool_.used_blocks(), 2 * kSequences);
}

TEST_F(BlockTableTest, ChildrenShareThePrefix) {
  BlockTable parent(pool_, 200);
  parent.PrepareAppend(3 * kTokens);
  std::vector<BlockTable> children;
  for (int i = 0; i < 8; ++i) {
    children.emplace_back(pool_, 200);
    children.back().ShareFrom(parent);
  }
  EXPECT_EQ(pool_.used_blocks(), 3);
  for (std::byte* block : parent.blocks())
    EXPECT_EQ(pool_.references(block), 9);
  // The last block is full: going on copies nothing.
  for (BlockTable& child : children) {
    EXPECT_EQ(child.BlocksToAppend(1), 1);
    child.PrepareAppend(1);
  }
  EXPECT_EQ(pool_.used_blocks(), 3 + 8);
  EXPECT_EQ(pool_.copies(), 0);
}

TEST_F(BlockTableTest, ChildrenCopyThePartlyFilledLastBlockOnly) {
  BlockTable a(pool_, 200);
  for (int i = 0; i < kTokens + 3; ++i) Append(a, static_cast<float>(i));
  BlockTable b(pool_, 200);
  b.ShareFrom(a);
  EXPECT_EQ(pool_.used_blocks(), 2);
  EXPECT_EQ(b.BlocksToAppend(1), 1);
  Append(b, 100);
  EXPECT_EQ(pool_.copies(), 1);
  EXPECT_EQ(pool_.used_blocks(), 3);
  EXPECT_EQ(a.blocks()[0], b.blocks()[0]);
  EXPECT_NE(a.blocks()[1], b.blocks()[1]);
  // The last holder writes in place.
  EXPECT_EQ(a.BlocksToAppend(1), 0);
  Append(a, 200);
  EXPECT_EQ(pool_.copies(), 1);
  for (int i = 0; i < kTokens + 3; ++i) {
    EXPECT_NEAR(At(a, i), i, 1e-3) << i;
    EXPECT_NEAR(At(b, i), i, 1e-3) << i;
  }
  EXPECT_NEAR(At(a, kTokens + 3), 200, 1e-3);
  EXPECT_NEAR(At(b, kTokens + 3), 100, 1e-3);
}

std::vector<int> Tokens(int count, int seed = 0) {
  std::vector<int> tokens(count);
  for (int i = 0; i < count; ++i) tokens[i] = i * 7 % 11 + seed;
  return tokens;
}

TEST_F(BlockTableTest, TakesWhatIsSealedOfItsTokens) {
  BlockTable a(pool_, 200);
  a.PrepareAppend(3 * kTokens + 2);
  a.Seal(Tokens(3 * kTokens + 2), ChainRoot());
  BlockTable b(pool_, 200);
  EXPECT_EQ(b.ShareSealed(Tokens(100, 1), ChainRoot()), 0);
  EXPECT_EQ(b.ShareSealed(Tokens(100), ChainRoot(1)), 0);
  EXPECT_EQ(b.ShareSealed(Tokens(2 * kTokens - 1), ChainRoot()), kTokens);
  EXPECT_EQ(b.ShareSealed(Tokens(100), ChainRoot()), 2 * kTokens);
  EXPECT_EQ(b.tokens(), 3 * kTokens);
  EXPECT_THAT(Blocks(b), ElementsAreArray(a.blocks().first(3)));
  EXPECT_EQ(b.references(0), 2);
  EXPECT_EQ(a.references(3), 1);
  // Going on copies nothing, and is found in turn.
  b.PrepareAppend(kTokens);
  EXPECT_EQ(pool_.copies(), 0);
  b.Seal(Tokens(4 * kTokens), ChainRoot());
  BlockTable c(pool_, 200);
  EXPECT_EQ(c.ShareSealed(Tokens(100), ChainRoot()), 4 * kTokens);
}

TEST_F(BlockTableTest, AWholeSealedBlockReplacesAPart) {
  BlockTable a(pool_, 200);
  BlockTable b(pool_, 200);
  a.PrepareAppend(2 * kTokens);
  b.PrepareAppend(3);
  a.Seal(Tokens(2 * kTokens), ChainRoot());
  EXPECT_EQ(pool_.used_blocks(), 3);
  EXPECT_EQ(b.ShareSealed(Tokens(2 * kTokens), ChainRoot()), 2 * kTokens - 3);
  EXPECT_EQ(pool_.used_blocks(), 2);
  EXPECT_THAT(Blocks(b), ElementsAreArray(a.blocks()));
}

TEST_F(BlockTableTest, BeginningsOfChainsStayForLongest) {
  std::byte* first = nullptr;
  {
    BlockTable a(pool_, 700);
    a.PrepareAppend(40 * kTokens);
    a.Seal(Tokens(40 * kTokens), ChainRoot());
    first = a.blocks()[0];
  }
  BlockTable b(pool_, 700);
  b.PrepareAppend(38 * kTokens);
  BlockTable c(pool_, 700);
  EXPECT_EQ(c.ShareSealed(Tokens(40 * kTokens), ChainRoot()), 2 * kTokens);
  EXPECT_EQ(c.blocks()[0], first);
}

TEST_F(BlockTableTest, SealsAgainWhatWasUnsealed) {
  BlockTable a(pool_, 200);
  a.PrepareAppend(2 * kTokens);
  a.Seal(Tokens(2 * kTokens), ChainRoot());
  pool_.UnsealAll();
  BlockTable b(pool_, 200);
  EXPECT_EQ(b.ShareSealed(Tokens(100), ChainRoot()), 0);
  a.PrepareAppend(1);
  a.Seal(Tokens(2 * kTokens + 1), ChainRoot());
  EXPECT_EQ(b.ShareSealed(Tokens(100), ChainRoot()), 2 * kTokens);
}

TEST_F(BlockTableTest, SharesASourceWhole) {
  const std::vector<int> tokens(kTokens + 3, 7);
  BlockTable table(pool_, kTokens + 3);
  EXPECT_FALSE(table.ShareSource(tokens));
  EXPECT_EQ(table.tokens(), 0);
  table.PrepareAppend(kTokens + 3);
  table.SealSource(tokens);
  BlockTable other(pool_, kTokens + 3);
  // What begins alike is another source.
  EXPECT_FALSE(other.ShareSource(absl::MakeConstSpan(tokens).first(kTokens)));
  EXPECT_TRUE(other.ShareSource(tokens));
  EXPECT_EQ(other.tokens(), kTokens + 3);
  EXPECT_EQ(Blocks(other), Blocks(table));
  EXPECT_EQ(table.references(1), 2);
}

TEST_F(BlockTableTest, ASealedBlockIsNotWrittenTo) {
  BlockTable a(pool_, 200);
  a.PrepareAppend(kTokens);
  a.Seal(Tokens(kTokens), ChainRoot());
  BlockTable b(pool_, 200);
  b.ShareFrom(a, kTokens - 1);
  a.Clear();
  EXPECT_DEATH(b.PrepareAppend(1), "check failed");
}

TEST_F(BlockTableTest, NothingIsAllocatedWithinTheReservation) {
  BlockTable a(pool_, 100);
  BlockTable b(pool_, 100);
  const std::byte* const* const a_data = a.blocks().data();
  a.PrepareAppend(100);
  EXPECT_EQ(a.blocks().data(), a_data);
  const std::byte* const* const b_data = b.blocks().data();
  b.ShareFrom(a);
  EXPECT_EQ(b.blocks().data(), b_data);
}

TEST_F(BlockTableTest, TruncateGivesBackWhatHoldsNoToken) {
  BlockTable table(pool_, 3 * kTokens);
  for (int i = 0; i < kTokens + 2; ++i) Append(table, static_cast<float>(i));
  const int used = pool_.used_blocks();
  table.Truncate(kTokens + 1);
  EXPECT_EQ(table.tokens(), kTokens + 1);
  EXPECT_EQ(pool_.used_blocks(), used);
  table.Truncate(kTokens - 1);
  EXPECT_EQ(pool_.used_blocks(), used - 1);
  EXPECT_FLOAT_EQ(At(table, kTokens - 2), kTokens - 2);
  Append(table, 100);
  EXPECT_FLOAT_EQ(At(table, kTokens - 1), 100);
  table.Truncate(0);
  EXPECT_EQ(pool_.used_blocks(), used - 2);
}

}  // namespace
}  // namespace attend
