#include "engine/cache/table_set.h"

#include <vector>

#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr KvLayout kLayout{.layers = 2, .kv_heads = 2, .head_dim = 8};
constexpr int kTokens = KvLayout::kBlockTokens;

class TableSetTest : public ::testing::Test {
 protected:
  TableSetTest() { tables_.Attach(pool_); }

  // All of a prompt's hypotheses begin with its blocks.
  void StartAll(int tokens) {
    tables_[0].PrepareAppend(tokens);
    for (int i = 1; i < 4; ++i) tables_[i].ShareFrom(tables_[0]);
  }

  BlockPool pool_{kLayout, 40 * kLayout.block_bytes()};
  TableSet tables_{4, 10 * kTokens, kTokens};
};

TEST_F(TableSetTest, CopiesAtMostThePartlyFilledBlocks) {
  for (int i = 0; i < 4; ++i) tables_[i].PrepareAppend(2 * kTokens + 5);
  const int before = pool_.used_blocks();
  tables_.Reorder({2, 2, 2, 0});
  EXPECT_EQ(pool_.copies(), 0);
  EXPECT_EQ(pool_.used_blocks(), before - 2 * 3);
  // Two of the three children of table 2 copy 5 tokens; the last of them and
  // the only child of table 0 go on in place.
  EXPECT_EQ(tables_.BlocksToAppendOne(4), 2);
  const int free = pool_.free_blocks();
  for (int i = 0; i < 4; ++i) tables_[i].PrepareAppend(1);
  EXPECT_EQ(pool_.copies(), 2);
  EXPECT_EQ(free - pool_.free_blocks(), 2);
  EXPECT_EQ(tables_.BlocksToAppendOne(4), 0);
}

TEST_F(TableSetTest, TablesThatStayAreNotTouched) {
  StartAll(kTokens + 1);
  const std::vector<std::byte*> blocks(tables_[1].blocks().begin(),
                                       tables_[1].blocks().end());
  tables_.Reorder({0, 1});
  EXPECT_EQ(tables_[1].tokens(), kTokens + 1);
  EXPECT_EQ(tables_[1].blocks(), blocks);
  // Hypotheses that are no more hold nothing.
  EXPECT_EQ(tables_[2].tokens(), 0);
  EXPECT_EQ(tables_[0].references(0), 2);
}

TEST_F(TableSetTest, WhatOthersHoldIsNotItsOwn) {
  StartAll(2 * kTokens + 1);
  EXPECT_EQ(tables_.own_blocks(), 3);
  tables_[1].PrepareAppend(1);  // a copy of the last block
  EXPECT_EQ(tables_.own_blocks(), 4);
  BlockTable other(pool_, 2 * kTokens);
  other.ShareFrom(tables_[3], 2 * kTokens);
  EXPECT_EQ(tables_.own_blocks(), 2);
  tables_.Clear();
  EXPECT_EQ(tables_.own_blocks(), 0);
  EXPECT_EQ(pool_.used_blocks(), 2);
}

TEST_F(TableSetTest, AFullLastBlockNeedsANewOneEach) {
  StartAll(kTokens);
  EXPECT_EQ(tables_.BlocksToAppendOne(4), 4);
  EXPECT_EQ(tables_.BlocksToAppendOne(2), 2);
}

}  // namespace
}  // namespace attend
