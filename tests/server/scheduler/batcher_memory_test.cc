// What the batcher does where memory is short: who is admitted, overtaken and
// preempted.

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/batcher.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Rows = Decision::Rows;

TEST(BatcherMemoryTest, AdmitsOnlyWhatFitsTheBlocks) {
  Batcher batcher({});
  const std::vector<RequestView> running = {Decoding(1, 2, 2, 10)};
  const std::vector<RequestView> waiting = {Newcomer(2, 40)};  // 10 blocks
  // 2 for this step, 2 for the next, 10 + 1 for the newcomer.
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 14, .free_encode_rows = 40}, {}, kNow)
                  .admitted,
              IsEmpty());
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 15, .free_encode_rows = 40}, {}, kNow)
                  .admitted,
              ElementsAre(Rows{0, 32}));
}

TEST(BatcherMemoryTest, WhatUsesNoBlocksNeedsNoneFree) {
  Batcher batcher({});
  std::vector<RequestView> waiting = {Newcomer(2, 20), Newcomer(3, 20)};
  std::vector<RequestView> running = {Encoding(1, 20)};
  for (RequestView* view : {&waiting[0], &waiting[1], &running[0]}) {
    view->work.blocks = 0;
    view->work.uses_blocks = false;
  }
  const Decision& decision = batcher.Plan(
      waiting, running, {.free_blocks = 0, .free_encode_rows = 100}, {}, kNow);
  EXPECT_THAT(decision.running, ElementsAre(Rows{0, 20}));
  EXPECT_THAT(decision.admitted, ElementsAre(Rows{0, 20}, Rows{1, 20}));
}

TEST(BatcherMemoryTest, AdmitsOnlyWhatFitsTheEncodeRows) {
  Batcher batcher({});
  const std::vector<RequestView> waiting = {Newcomer(1, 30), Newcomer(2, 30)};
  EXPECT_THAT(batcher
                  .Plan(waiting, {},
                        {.free_blocks = 100, .free_encode_rows = 59}, {}, kNow)
                  .admitted,
              ElementsAre(Rows{0, 30}));
}

TEST(BatcherMemoryTest, TheFirstOneMayTakeAllMemory) {
  Batcher batcher({});
  const std::vector<RequestView> waiting = {Newcomer(1, 40)};
  EXPECT_THAT(batcher
                  .Plan(waiting, {},
                        {.free_blocks = 10, .free_encode_rows = 40}, {}, kNow)
                  .admitted,
              ElementsAre(Rows{0, 40}));
}

TEST(BatcherMemoryTest, ALongOneThatDoesNotFitIsOvertakenForAWhileOnly) {
  Batcher batcher({.aging = absl::Seconds(1)});
  const std::vector<RequestView> running = {Decoding(1)};
  std::vector<RequestView> waiting = {Newcomer(2, 400), Newcomer(3, 5)};
  const MemoryView memory = {.free_blocks = 50, .free_encode_rows = 1000};
  EXPECT_THAT(batcher.Plan(waiting, running, memory, {}, kNow).admitted,
              ElementsAre(Rows{1, 5}));
  waiting[0].arrival = kNow - absl::Seconds(1);
  EXPECT_THAT(batcher.Plan(waiting, running, memory, {}, kNow).admitted,
              IsEmpty());
}

TEST(BatcherMemoryTest, APreemptedOneIsNotOvertaken) {
  Batcher batcher({});
  const std::vector<RequestView> running = {Decoding(1)};
  std::vector<RequestView> waiting = {Newcomer(2, 8), Newcomer(3, 8)};
  waiting[0].blocks_when_preempted = 30;
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 30, .free_encode_rows = 100}, {}, kNow)
                  .admitted,
              IsEmpty());
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 40, .free_encode_rows = 100}, {}, kNow)
                  .admitted,
              ElementsAre(Rows{0, 8}, Rows{1, 8}));
}

TEST(BatcherMemoryTest, RoomOfAReadmittedOneStaysReserved) {
  Batcher batcher({});
  std::vector<RequestView> running = {Decoding(1), Encoding(2, 8)};
  running[1].blocks_when_preempted = 30;
  running[1].held_blocks = 2;
  const std::vector<RequestView> waiting = {Newcomer(3, 8)};  // 2 + 1 blocks
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 31, .free_encode_rows = 100}, {}, kNow)
                  .admitted,
              IsEmpty());
  EXPECT_THAT(batcher
                  .Plan(waiting, running,
                        {.free_blocks = 32, .free_encode_rows = 100}, {}, kNow)
                  .admitted,
              ElementsAre(Rows{0, 8}));
}

TEST(BatcherMemoryTest, PreemptsYoungestFirst) {
  Batcher batcher({});
  const std::vector<RequestView> running = {
      Decoding(3, 1, 1, 1), Decoding(1, 1, 1, 5), Decoding(2, 1, 1, 5)};
  const Decision& decision = batcher.Plan(
      {}, running, {.free_blocks = 0, .free_encode_rows = 0}, {}, kNow);
  // The third in age frees 1 block of 2 needed; the second must go too.
  EXPECT_THAT(decision.preempted, ElementsAre(0, 2));
  EXPECT_THAT(decision.running, ElementsAre(Rows{1, 1}));
}

TEST(BatcherMemoryTest, PreemptsLowestPriorityFirstButNeverTheOldest) {
  Batcher batcher({});
  std::vector<RequestView> running = {
      Decoding(1, 1, 1, 9), Decoding(2, 1, 1, 9), Decoding(3, 1, 1, 9)};
  running[0].priority = -5;
  running[1].priority = -1;
  EXPECT_THAT(batcher
                  .Plan({}, running, {.free_blocks = 2, .free_encode_rows = 0},
                        {}, kNow)
                  .preempted,
              ElementsAre(1));
}

// Blocks that running ones share are no one's own until all of them are gone.
TEST(BatcherMemoryTest, PreemptsAllButOneWhereTheyHoldNothingOfTheirOwn) {
  Batcher batcher({});
  std::vector<RequestView> running = {Decoding(1), Decoding(2), Decoding(3)};
  for (RequestView& view : running) {
    view.work.blocks = 1;
    view.held_blocks = 0;
  }
  const Decision& decision =
      batcher.Plan({}, running, {.free_blocks = 0}, {}, kNow);
  EXPECT_THAT(decision.preempted, ElementsAre(2, 1));
  EXPECT_THAT(decision.running, ElementsAre(Rows{0, 1}));
}

TEST(BatcherMemoryTest, NobodyIsAdmittedWhileOthersArePreempted) {
  Batcher batcher({});
  const std::vector<RequestView> running = {Decoding(1, 1, 1, 2),
                                            Decoding(2, 1, 1, 50)};
  const std::vector<RequestView> waiting = {Newcomer(3, 4)};
  const Decision& decision = batcher.Plan(
      waiting, running, {.free_blocks = 1, .free_encode_rows = 9}, {}, kNow);
  EXPECT_THAT(decision.preempted, ElementsAre(1));
  EXPECT_THAT(decision.admitted, IsEmpty());
}

}  // namespace
}  // namespace attend
