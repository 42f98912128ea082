#include "server/scheduler/batcher.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Rows = Decision::Rows;

// An estimate after which `rows` prompt rows double a step of 1 decode row.
StepCost CostWhereRowsDouble(int rows) {
  StepCost cost;
  cost.Observe(1, 0, absl::Milliseconds(rows));
  cost.Observe(0, 1, absl::Milliseconds(rows + 1));
  return cost;
}

TEST(BatcherTest, NothingToDo) {
  Batcher batcher({});
  const Decision& decision = batcher.Plan({}, {}, kPlenty, {}, kNow);
  EXPECT_THAT(decision.running, IsEmpty());
  EXPECT_THAT(decision.admitted, IsEmpty());
}

TEST(BatcherTest, AdmitsInOrderOfArrival) {
  Batcher batcher({.max_rows = 100});
  const std::vector<RequestView> waiting = {Newcomer(2, 20), Newcomer(1, 20)};
  const Decision& decision = batcher.Plan(waiting, {}, kPlenty, {}, kNow);
  EXPECT_THAT(decision.admitted, ElementsAre(Rows{1, 20}, Rows{0, 20}));
  EXPECT_EQ(decision.prompt_rows, 40);
}

TEST(BatcherTest, StopsAtRowBudget) {
  Batcher batcher({.max_rows = 32});
  const std::vector<RequestView> waiting = {Newcomer(1, 20), Newcomer(2, 20),
                                            Newcomer(3, 20), Newcomer(4, 20),
                                            Newcomer(5, 20)};
  const Decision& decision = batcher.Plan(waiting, {}, kPlenty, {}, kNow);
  // Whole, in order; the last is cut, and the others wait.
  EXPECT_THAT(decision.admitted, ElementsAre(Rows{0, 20}, Rows{1, 12}));
}

TEST(BatcherTest, ANewcomerOfWhichLittleFitsWaits) {
  Batcher batcher({.max_rows = 50});
  const std::vector<RequestView> waiting = {Newcomer(1, 30), Newcomer(2, 41),
                                            Newcomer(3, 5)};
  // 20 of 41 rows are less than half. Nobody passes it: next time it is first.
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 30}));
}

TEST(BatcherTest, SourcesAreTakenWholeWhileOthersDecode) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 100});
  const std::vector<RequestView> running = {Decoding(1)};
  const std::vector<RequestView> waiting = {Newcomer(2, 40), Newcomer(3, 40),
                                            Newcomer(4, 40), Newcomer(5, 40)};
  EXPECT_THAT(batcher.Plan(waiting, running, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 40}, Rows{1, 40}, Rows{2, 20}));
}

TEST(BatcherTest, ASmallSourceThatWouldBeCutWaits) {
  Batcher batcher({.max_rows = 100});
  std::vector<RequestView> waiting = {Newcomer(1, 80), Newcomer(2, 25)};
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 80}));
  waiting[1] = Newcomer(2, 26);  // more than a quarter of a step
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 80}, Rows{1, 20}));
}

TEST(BatcherTest, HigherPriorityFirst) {
  Batcher batcher({.max_rows = 8});
  std::vector<RequestView> waiting = {Newcomer(1, 8), Newcomer(2, 8)};
  waiting[1].priority = 1;
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{1, 8}));
}

TEST(BatcherTest, AgingRaisesOneLevelAnInterval) {
  Batcher batcher({.max_rows = 8, .aging = absl::Seconds(2)});
  std::vector<RequestView> waiting = {Newcomer(1, 8), Newcomer(2, 8)};
  waiting[1].priority = 3;
  waiting[0].arrival = kNow - absl::Milliseconds(5999);
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{1, 8}));
  waiting[0].arrival = kNow - absl::Seconds(6);
  EXPECT_THAT(batcher.Plan(waiting, {}, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 8}));
}

TEST(BatcherTest, MaxRunning) {
  Batcher batcher({.max_running = 2});
  const std::vector<RequestView> running = {Decoding(1)};
  const std::vector<RequestView> waiting = {Newcomer(2, 4), Newcomer(3, 4)};
  EXPECT_THAT(batcher.Plan(waiting, running, kPlenty, {}, kNow).admitted,
              ElementsAre(Rows{0, 4}));
}

TEST(BatcherTest, DecodesComeFirst) {
  Batcher batcher({.max_rows = 10});
  const std::vector<RequestView> running = {Encoding(1, 50), Decoding(2, 4),
                                            Decoding(3, 4)};
  const Decision& decision = batcher.Plan({}, running, kPlenty, {}, kNow);
  EXPECT_THAT(decision.running,
              ElementsAre(Rows{1, 4}, Rows{2, 4}, Rows{0, 2}));
  EXPECT_EQ(decision.decode_rows, 8);
  EXPECT_EQ(decision.prompt_rows, 2);
}

TEST(BatcherTest, DecodesBeyondTheBudgetTakeTurns) {
  Batcher batcher({.max_rows = 8});
  std::vector<RequestView> running;
  for (int i = 0; i < 5; ++i) running.push_back(Decoding(i, 4));
  std::vector<int> turns(running.size());
  int64_t pieces = 0;
  for (int step = 0; step < 10; ++step) {
    const Decision& decision = batcher.Plan({}, running, kPlenty, {}, kNow);
    EXPECT_EQ(decision.decode_rows, 8);
    for (const auto [index, rows] : decision.running) {
      turns[index] += 1;
      running[index].last_piece = ++pieces;
    }
  }
  EXPECT_THAT(turns, ElementsAre(4, 4, 4, 4, 4));
}

TEST(BatcherTest, APieceWiderThanTheBudgetRunsAlone) {
  Batcher batcher({.max_rows = 4});
  const std::vector<RequestView> running = {Decoding(1, 8), Decoding(2, 1)};
  EXPECT_THAT(batcher.Plan({}, running, kPlenty, {}, kNow).running,
              ElementsAre(Rows{0, 8}));
}

TEST(BatcherTest, PromptRowsAtMostDoubleAStep) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 8});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 500)};
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, CostWhereRowsDouble(40), kNow)
                .prompt_rows,
            40);
}

TEST(BatcherTest, AStepOfFiveMillisecondsIsNotTooLong) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 8});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 500)};
  // 0.1 ms a step, and 10 us a prompt row.
  StepCost cost;
  cost.Observe(1, 0, absl::Microseconds(100));
  cost.Observe(0, 1, absl::Microseconds(110));
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, cost, kNow).prompt_rows, 490);
}

TEST(BatcherTest, NewcomersMayTakeAsLongAsFirstDecodesHaveWaited) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 8});
  std::vector<RequestView> running = {Decoding(1), Decoding(2),
                                      Encoding(3, 500)};
  running[0].has_decoded = running[1].has_decoded = false;
  running[0].arrival = kNow - absl::Milliseconds(200);
  running[1].arrival = kNow - absl::Milliseconds(300);
  const StepCost cost = CostWhereRowsDouble(40);  // 1 ms a row
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, cost, kNow).prompt_rows, 200);
  // One that decodes, and one that encodes once more.
  for (const int i : {0, 2}) {
    running[i].has_decoded = true;
    EXPECT_EQ(batcher.Plan({}, running, kPlenty, cost, kNow).prompt_rows, 40);
    running[i].has_decoded = false;
  }
  running[0].arrival = kNow - absl::Milliseconds(1);
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, cost, kNow).prompt_rows, 40);
}

TEST(BatcherTest, PromptRowsHaveAMinimum) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 8});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 500)};
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, CostWhereRowsDouble(2), kNow)
                .prompt_rows,
            8);
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, {}, kNow).prompt_rows, 8);
}

TEST(BatcherTest, PromptsOfADecoderAloneComeInSmallerPieces) {
  Batcher batcher(
      {.max_rows = 1000, .min_encode_piece = 8, .min_prompt_piece = 3});
  std::vector<RequestView> running = {Decoding(1), Encoding(2, 500)};
  running[1].work.phase = Phase::kPrompt;
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, CostWhereRowsDouble(5), kNow)
                .prompt_rows,
            5);
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, CostWhereRowsDouble(2), kNow)
                .prompt_rows,
            3);
  const std::vector<RequestView> waiting = {running[1]};
  EXPECT_EQ(batcher
                .Plan(waiting, {running.data(), 1}, kPlenty,
                      CostWhereRowsDouble(2), kNow)
                .prompt_rows,
            3);
}

TEST(BatcherTest, LeavesPromptsOutWhereTheCostOfDecodingIsUnknown) {
  Batcher batcher({});
  StepCost cost;
  while (!cost.WantsQuietStep()) cost.Observe(1, 32, absl::Milliseconds(9));
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 500)};
  const std::vector<RequestView> waiting = {Newcomer(3, 5)};
  EXPECT_EQ(batcher.Plan(waiting, running, kPlenty, cost, kNow).prompt_rows, 0);
  EXPECT_GT(
      batcher.Plan(waiting, {&running[1], 1}, kPlenty, cost, kNow).prompt_rows,
      0)
      << "nobody decodes";
  cost.Observe(1, 0, absl::Milliseconds(4));
  EXPECT_GT(batcher.Plan(waiting, running, kPlenty, cost, kNow).prompt_rows, 0);
}

TEST(BatcherTest, WholeBudgetForPromptsWhenNobodyDecodes) {
  Batcher batcher({.max_rows = 1000, .min_encode_piece = 8});
  const std::vector<RequestView> running = {Encoding(2, 5000)};
  EXPECT_EQ(batcher.Plan({}, running, kPlenty, CostWhereRowsDouble(2), kNow)
                .prompt_rows,
            1000);
}

TEST(BatcherTest, LongPromptDoesNotStarveShortOnes) {
  Batcher batcher({.min_encode_piece = 32});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 4000)};
  const std::vector<RequestView> waiting = {Newcomer(3, 5)};
  const Decision& decision = batcher.Plan(waiting, running, kPlenty, {}, kNow);
  EXPECT_THAT(decision.admitted, ElementsAre(Rows{0, 5}));
  EXPECT_THAT(decision.running, ElementsAre(Rows{0, 1}, Rows{1, 27}));
}

TEST(BatcherTest, ShortPromptsDoNotStarveALongOne) {
  Batcher batcher({.min_encode_piece = 32});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 4000)};
  std::vector<RequestView> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(Newcomer(3 + i, 5));
  const Decision& decision = batcher.Plan(waiting, running, kPlenty, {}, kNow);
  ASSERT_EQ(decision.running.size(), 2u);
  EXPECT_GE(decision.running[1].rows, 8);
  EXPECT_EQ(decision.prompt_rows, 32);
}

TEST(BatcherTest, SameArgumentsSameDecision) {
  Batcher used({.max_rows = 16});
  const std::vector<RequestView> many = {Decoding(1, 4, 4, 4),
                                         Decoding(2, 4, 4, 4)};
  used.Plan({}, many, {.free_blocks = 4, .free_encode_rows = 4}, {}, kNow);
  Batcher fresh({.max_rows = 16});
  const std::vector<RequestView> running = {Decoding(1), Encoding(2, 100)};
  const std::vector<RequestView> waiting = {Newcomer(3, 5)};
  const Decision& a = used.Plan(waiting, running, kPlenty, {}, kNow);
  const Decision& b = fresh.Plan(waiting, running, kPlenty, {}, kNow);
  EXPECT_EQ(a.running, b.running);
  EXPECT_EQ(a.admitted, b.admitted);
  EXPECT_EQ(a.preempted, b.preempted);
}

}  // namespace
}  // namespace attend
