#include "server/scheduler/step_cost.h"

#include "gtest/gtest.h"

namespace attend {
namespace {

// 1 ms a step, 20 us a decode row, 50 us a prompt row.
absl::Duration Truth(int decode_rows, int prompt_rows) {
  return absl::Microseconds(1000 + 20 * decode_rows + 50 * prompt_rows);
}

TEST(StepCostTest, KnowsNothingAtFirst) {
  const StepCost cost;
  EXPECT_EQ(cost.QuietSeconds(8), 0);
  EXPECT_EQ(cost.RowsThatDouble(8), 0);
  EXPECT_EQ(cost.RowsUntil(8, 1), 0);
  EXPECT_EQ(cost.PromptRowsOf(1), 0);
}

TEST(StepCostTest, LearnsBothParts) {
  StepCost cost;
  for (int i = 0; i < 400; ++i) {
    const int decode_rows = 1 + i * 7 % 60;
    const int prompt_rows = i % 3 == 0 ? 40 : 0;
    cost.Observe(decode_rows, prompt_rows, Truth(decode_rows, prompt_rows));
  }
  for (const int rows : {4, 16, 48}) {
    EXPECT_NEAR(cost.QuietSeconds(rows), 1e-3 + 20e-6 * rows, 0.15e-3) << rows;
  }
  EXPECT_NEAR(cost.PromptRowSeconds(), 50e-6, 10e-6);
  EXPECT_NEAR(cost.RowsThatDouble(16), 1320 / 50, 6);
  EXPECT_NEAR(cost.RowsUntil(16, 5e-3), (5000 - 1320) / 50, 15);
  EXPECT_EQ(cost.RowsUntil(16, 1e-3), 0);
  EXPECT_NEAR(cost.PromptRowsOf(1), 1000000 / 50, 4000);
  EXPECT_EQ(cost.PromptRowsOf(-1), 0);
  EXPECT_GT(cost.PromptRowsOf(absl::ToDoubleSeconds(absl::InfiniteDuration())),
            100000);
}

TEST(StepCostTest, FollowsAChange) {
  StepCost cost;
  for (int i = 0; i < 50; ++i) cost.Observe(8, 0, absl::Milliseconds(1));
  for (int i = 0; i < 50; ++i) cost.Observe(8, 0, absl::Milliseconds(10));
  EXPECT_NEAR(cost.QuietSeconds(8), 10e-3, 1e-3);
}

TEST(StepCostTest, OneSpikeMovesLittle) {
  StepCost cost;
  for (int i = 0; i < 50; ++i) cost.Observe(8, 0, absl::Milliseconds(1));
  cost.Observe(8, 0, absl::Seconds(1));
  EXPECT_LT(cost.QuietSeconds(8), 2e-3);
}

TEST(StepCostTest, WantsAQuietStepWhereThereIsNone) {
  StepCost cost;
  for (int round = 0; round < 2; ++round) {
    int steps = 0;
    for (; !cost.WantsQuietStep(); ++steps) {
      ASSERT_LT(steps, 100);
      cost.Observe(30, 32, Truth(30, 32));
    }
    EXPECT_GT(steps, 8) << "a quiet step costs newcomers";
    cost.Observe(30, 0, Truth(30, 0));
  }
  EXPECT_NEAR(cost.RowsThatDouble(30), 1600 / 50, 16);
}

// Of the first step it is not known what the rows took: one of many rows shall
// not make one of a few look as dear.
TEST(StepCostTest, TheFirstGuessLeavesSomethingToManyRows) {
  StepCost cost;
  cost.Observe(128, 0, absl::Milliseconds(16));
  EXPECT_NEAR(cost.QuietSeconds(128), 0.016, 1e-9);
  EXPECT_LE(cost.QuietSeconds(1), 0.5 * 0.016);
  EXPECT_NEAR(cost.Seconds(128, 10), 0.016, 1e-9) << "not known yet";
}

// Else prompts beside decodes would be cut into the smallest pieces for long.
TEST(StepCostTest, TheFirstPromptIsSoonForgotten) {
  for (const int first_rows : {1, 32, 200}) {
    StepCost cost;
    cost.Observe(0, first_rows, 100 * Truth(0, first_rows));
    for (int i = 0; i < 20; ++i) cost.Observe(8, 0, Truth(8, 0));
    for (int i = 0; i < 2; ++i) cost.Observe(8, 32, Truth(8, 32));
    EXPECT_NEAR(cost.PromptRowSeconds(), 50e-6, 10e-6) << first_rows;
  }
}

TEST(StepCostTest, LearnsThatRowsAreForNothing) {
  StepCost cost;
  cost.Observe(1, 0, absl::Milliseconds(50));
  for (int i = 0; i < 40; ++i) cost.Observe(500, 0, absl::Milliseconds(10));
  EXPECT_NEAR(cost.QuietSeconds(500), 0.010, 0.001);
}

TEST(StepCostTest, WorkIsAtMostSomeTimesTheEstimate) {
  StepCost cost;
  EXPECT_EQ(cost.WorkSeconds(8, 0, absl::Hours(1)), 3600);
  for (int i = 0; i < 40; ++i) cost.Observe(8, 0, absl::Milliseconds(10));
  EXPECT_EQ(cost.WorkSeconds(8, 0, absl::Milliseconds(20)), 0.020);
  EXPECT_NEAR(cost.WorkSeconds(8, 0, absl::Hours(1)), 0.080, 0.001);
}

TEST(StepCostTest, IgnoresStepsWithoutTimeOrRows) {
  StepCost cost;
  cost.Observe(8, 0, absl::ZeroDuration());
  cost.Observe(0, 0, absl::Seconds(1));
  EXPECT_EQ(cost.QuietSeconds(8), 0);
}

}  // namespace
}  // namespace attend
