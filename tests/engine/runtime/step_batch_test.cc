#include "engine/runtime/step_batch.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StepBatchTest, RowsOfHypothesesStandOneAfterTheOther) {
  std::byte memory[4];
  const std::vector<std::byte*> mine = {memory, memory + 1};
  const std::vector<std::byte*> other = {memory + 2};
  const std::vector<std::byte*> source = {memory + 3};
  StepBatch batch(8);
  batch.AddTokens({7, 8, 9}, 4, mine);
  batch.AddTokens({5}, 0, other);
  EXPECT_EQ(batch.rows(), 4);
  batch.AddCross(3, source, 6);

  const KvLayout layout;
  const DecodeRows rows = batch.View(layout);
  EXPECT_EQ(rows.kv_layout, &layout);
  EXPECT_THAT(rows.ids, ElementsAre(7, 8, 9, 5));
  EXPECT_THAT(rows.positions, ElementsAre(4, 5, 6, 0));
  EXPECT_THAT(rows.lengths, IsEmpty());
  ASSERT_EQ(rows.writes.size(), 2u);
  EXPECT_EQ(rows.writes[0].rows, 3);
  EXPECT_EQ(rows.writes[0].first_token, 4);
  EXPECT_EQ(rows.writes[1].first_row, 3);
  EXPECT_EQ(rows.writes[1].blocks[0], memory + 2);
  // The first row sees the tokens before it and itself.
  ASSERT_EQ(rows.self_pieces.size(), 2u);
  EXPECT_EQ(rows.self_pieces[0].keys, 5);
  EXPECT_EQ(rows.self_pieces[0].position, 4);
  EXPECT_TRUE(rows.self_pieces[0].causal);
  EXPECT_EQ(rows.self_pieces[1].first_row, 3);
  EXPECT_EQ(rows.self_pieces[1].keys, 1);
  // Of the source each row sees everything.
  ASSERT_EQ(rows.cross_pieces.size(), 1u);
  EXPECT_EQ(rows.cross_pieces[0].first_row, 3);
  EXPECT_EQ(rows.cross_pieces[0].rows, 1);
  EXPECT_EQ(rows.cross_pieces[0].keys, 6);
  EXPECT_FALSE(rows.cross_pieces[0].causal);
}

TEST(StepBatchTest, NextStepBeginsEmpty) {
  std::byte memory;
  const std::vector<std::byte*> blocks = {&memory};
  StepBatch batch(4);
  batch.AddTokens({1, 2}, 0, blocks);
  batch.AddLength(9);
  batch.AddLength(9);
  batch.AddCross(0, blocks, 1);
  EXPECT_THAT(batch.View({}).lengths, ElementsAre(9, 9));
  batch.Clear();
  EXPECT_EQ(batch.rows(), 0);
  const KvLayout layout;
  const DecodeRows rows = batch.View(layout);
  EXPECT_THAT(rows.ids, IsEmpty());
  EXPECT_THAT(rows.lengths, IsEmpty());
  EXPECT_THAT(rows.writes, IsEmpty());
  EXPECT_THAT(rows.self_pieces, IsEmpty());
  EXPECT_THAT(rows.cross_pieces, IsEmpty());
}

}  // namespace
}  // namespace attend
