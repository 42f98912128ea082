// Several tenants: who is admitted, who takes part, who is preempted.

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/batcher.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RequestView Of(int tenant, RequestView view) {
  view.tenant = tenant;
  return view;
}

std::vector<int> Indices(const std::vector<Decision::Rows>& pieces) {
  std::vector<int> indices;
  for (const Decision::Rows& piece : pieces) indices.push_back(piece.index);
  return indices;
}

// Steps of 1 ms, 0.1 ms more for each decode row, 10 us for each prompt row.
StepCost KnownCost() {
  StepCost cost;
  for (int i = 0; i < 200; ++i) {
    const int rows = 1 + i % 2 * 19;
    cost.Observe(rows, 0, absl::Microseconds(1000 + 100 * rows));
  }
  cost.Observe(0, 100, absl::Milliseconds(2));
  cost.Observe(1, 0, absl::Microseconds(1100));
  return cost;
}

// Tenant 0 holds everything. 1, 2, ... are its requests by arrival.
std::vector<RequestView> Holding(int requests, int blocks) {
  std::vector<RequestView> running;
  for (int i = 0; i < requests; ++i) {
    running.push_back(Of(0, Decoding(1 + i, 1, 0, blocks)));
  }
  return running;
}

TEST(BatcherTenantsTest, WhoWasServedLeastIsFirst) {
  Batcher batcher({.max_rows = 20});
  const std::vector<TenantView> tenants = {{.served = 5}, {.served = 4}};
  std::vector<RequestView> waiting = {
      Of(0, Newcomer(1, 20)), Of(1, Newcomer(2, 20)), Of(1, Newcomer(3, 20))};
  waiting[0].priority = 9;  // counts within a tenant only
  waiting[2].priority = 1;
  EXPECT_THAT(
      Indices(batcher.Plan(waiting, {}, kPlenty, {}, kNow, tenants).admitted),
      ElementsAre(2));
}

TEST(BatcherTenantsTest, OfThoseServedAlikeWhoRunsLessAndThenWhoCameFirst) {
  Batcher batcher({.max_rows = 30, .max_running = 3});
  const std::vector<TenantView> tenants(3);
  const std::vector<RequestView> waiting = {
      Of(0, Newcomer(4, 20)), Of(1, Newcomer(5, 20)), Of(2, Newcomer(2, 20))};
  const auto plan = [&](const std::vector<RequestView>& running) {
    return batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  };
  EXPECT_THAT(Indices(plan({}).admitted), ElementsAre(2, 0));
  EXPECT_THAT(Indices(plan({Of(2, Decoding(1))}).admitted), ElementsAre(0));
  // Whose request others are preempted for, too.
  const Decision& decision =
      plan({Of(0, Decoding(0)), Of(0, Decoding(1)), Of(0, Decoding(3))});
  EXPECT_THAT(decision.preempted, ElementsAre(2));
  EXPECT_THAT(Indices(decision.admitted), ElementsAre(2));
}

TEST(BatcherTenantsTest, WhatIsPlannedCounts) {
  Batcher batcher({.max_rows = 60});
  const std::vector<TenantView> tenants = {{.weight = 1}, {.weight = 2}};
  std::vector<RequestView> waiting;
  for (int i = 0; i < 12; ++i) waiting.push_back(Of(i / 6, Newcomer(i, 10)));
  EXPECT_THAT(
      Indices(batcher.Plan(waiting, {}, kPlenty, {}, kNow, tenants).admitted),
      ElementsAre(0, 6, 7, 1, 8, 9));
}

TEST(BatcherTenantsTest, OneThatRunsAsMuchAsItMayLetsOthersPass) {
  Batcher batcher({.max_rows = 60});
  const std::vector<TenantView> tenants = {{.max_running = 3}, {.served = 9}};
  const std::vector<RequestView> running = Holding(2, 0);
  std::vector<RequestView> waiting;
  for (int i = 3; i < 9; ++i) waiting.push_back(Of(i / 6, Newcomer(i, 10)));
  const auto& plan = batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  EXPECT_THAT(Indices(plan.admitted), ElementsAre(0, 3, 4));
}

TEST(BatcherTenantsTest, ATenantWithoutAPlaceKeepsNobodyFromOne) {
  Batcher batcher({.max_running = 4});
  std::vector<RequestView> running = Holding(4, 0);
  running[3].tenant = 1;
  // 1 was served least, but may run one only. 2 gets the place.
  const std::vector<TenantView> tenants = {
      {.served = 9}, {.max_running = 1}, {.served = 5}};
  const std::vector<RequestView> waiting = {Of(1, Newcomer(7, 8)),
                                            Of(2, Newcomer(8, 8))};
  const auto& decision =
      batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  EXPECT_THAT(decision.preempted, ElementsAre(2));
  EXPECT_THAT(Indices(decision.admitted), ElementsAre(1));
}

TEST(BatcherTenantsTest, WhomAStepIsOwedGoesOnAlone) {
  Batcher batcher({});
  const std::vector<RequestView> running = {Of(0, Decoding(1, 50)),
                                            Of(1, Decoding(2))};
  const std::vector<RequestView> waiting = {Of(0, Newcomer(3, 8)),
                                            Of(1, Newcomer(4, 8))};
  const StepCost cost = KnownCost();
  const auto plan = [&](double owed) {
    const std::vector<TenantView> tenants = {{}, {.owed = owed}};
    return batcher.Plan(waiting, running, kPlenty, cost, kNow, tenants);
  };
  const Decision alone = plan(0.0015);
  EXPECT_FALSE(alone.joint);
  EXPECT_THAT(Indices(alone.running), ElementsAre(1));
  EXPECT_THAT(Indices(alone.admitted), ElementsAre(1));
  // Less than the step takes is not enough.
  EXPECT_TRUE(plan(0.001).joint);
  EXPECT_EQ(plan(0.001).decode_rows, 51);
}

TEST(BatcherTenantsTest, WithoutRoomForThoseWhoWouldGoAloneAllGoOn) {
  Batcher batcher({.max_running = 1});
  const std::vector<RequestView> running = {Of(0, Decoding(1))};
  const std::vector<RequestView> waiting = {Of(1, Newcomer(2, 8))};
  const std::vector<TenantView> tenants = {{}, {.owed = 1}};
  const Decision& decision =
      batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  EXPECT_TRUE(decision.joint);
  EXPECT_THAT(Indices(decision.running), ElementsAre(0));
}

TEST(BatcherTenantsTest, ANewcomersTenantGetsAPlace) {
  Batcher batcher({.max_running = 4});
  const std::vector<RequestView> running = Holding(4, 0);
  const std::vector<TenantView> tenants(2);
  std::vector<RequestView> waiting = {Of(1, Newcomer(9, 8))};
  const Decision& decision =
      batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  EXPECT_THAT(decision.preempted, ElementsAre(3));
  EXPECT_THAT(Indices(decision.admitted), ElementsAre(0));
  waiting[0].tenant = 0;
  EXPECT_THAT(
      batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants).preempted,
      IsEmpty());
}

TEST(BatcherTenantsTest, AnExactShareOfAPlaceIsAPlace) {
  Batcher batcher({.max_running = 2});
  // 2.0 / 98 * 49 is below 1.
  const std::vector<TenantView> tenants = {{.weight = 49, .served = 1},
                                           {.weight = 49}};
  const std::vector<RequestView> waiting = {Of(1, Newcomer(9, 8))};
  const auto& decision =
      batcher.Plan(waiting, Holding(2, 0), kPlenty, {}, kNow, tenants);
  EXPECT_THAT(decision.preempted, ElementsAre(1));
  EXPECT_THAT(Indices(decision.admitted), ElementsAre(0));
}

TEST(BatcherTenantsTest, WhoIsLeftOutKeepsItsRoomWhileItFits) {
  Batcher batcher({.max_running = 2, .aging = absl::Seconds(1)});
  std::vector<RequestView> running = {Of(1, Decoding(1))};
  running[0].since = kNow;
  std::vector<RequestView> waiting = {Of(0, Newcomer(2, 8)),
                                      Of(1, Newcomer(3, 8))};
  waiting[0].arrival = kNow - absl::Seconds(2);
  const std::vector<TenantView> tenants = {{}, {.served = 1, .owed = 1}};
  const auto& decision =
      batcher.Plan(waiting, running, kPlenty, KnownCost(), kNow, tenants);
  EXPECT_FALSE(decision.joint);
  EXPECT_THAT(decision.admitted, IsEmpty());
}

TEST(BatcherTenantsTest, NobodyIsPreemptedForWhoGetsNoRows) {
  Batcher batcher({.max_rows = 32, .max_running = 4});
  std::vector<RequestView> running = Holding(4, 0);
  // Of the tenant that was served least.
  running[1] = Of(2, Encoding(2, 28));
  const std::vector<TenantView> tenants = {
      {.served = 2}, {.served = 1}, {.served = 0}};
  const std::vector<RequestView> waiting = {Of(1, Newcomer(9, 20))};
  const auto plan = [&] {
    return batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants);
  };
  EXPECT_THAT(plan().preempted, IsEmpty());
  EXPECT_EQ(plan().decode_rows, 3);
  running[1].work.rows = 14;
  EXPECT_THAT(plan().preempted, ElementsAre(3));
  EXPECT_THAT(Indices(plan().admitted), ElementsAre(0));
}

TEST(BatcherTenantsTest, ANewcomersTenantGetsBlocks) {
  Batcher batcher({});
  const std::vector<RequestView> running = Holding(4, 25);
  const std::vector<TenantView> tenants(2);
  const MemoryView memory = {.free_blocks = 0,
                             .free_encode_rows = 1000,
                             .total_blocks = 100,
                             .total_encode_rows = 1000};
  const auto plan = [&](int rows) {
    const std::vector<RequestView> waiting = {Of(1, Newcomer(9, rows))};
    return batcher.Plan(waiting, running, memory, {}, kNow, tenants);
  };
  EXPECT_THAT(plan(20).preempted, ElementsAre(3));
  EXPECT_THAT(Indices(plan(20).admitted), ElementsAre(0));
  EXPECT_THAT(plan(120).preempted, ElementsAre(3, 2));
  // 51 blocks, and one more later, are more than a half.
  EXPECT_THAT(plan(204).preempted, IsEmpty());
}

// Tenant 0 waits for 60 of 100 blocks, tenant 1 holds 50, and `later` of them
// since room is kept. Who else is admitted?
std::vector<int> AdmittedBesideAKeptRoom(int later, int waited_seconds,
                                         double owed) {
  std::vector<RequestView> running = {Of(1, Decoding(1, 1, 0, 50 - later)),
                                      Of(1, Decoding(2, 1, 0, later)),
                                      Of(2, Decoding(0))};
  running[0].since = kNow - absl::Seconds(3);
  running[1].since = kNow - absl::Seconds(1);
  std::vector<RequestView> waiting = {
      Of(0, Newcomer(3, 236)), Of(0, Newcomer(4, 8)), Of(1, Newcomer(5, 80)),
      Of(2, Newcomer(6, 40))};
  for (int i = 0; i < 2; ++i) {
    running[i].max_blocks = running[i].held_blocks + 1;
  }
  waiting[0].arrival -= absl::Seconds(waited_seconds);
  waiting[3].max_blocks = 15;
  const std::vector<TenantView> tenants = {
      {}, {.served = 2}, {.served = 1, .owed = owed}};
  Batcher batcher({.max_rows = 1000});
  return Indices(batcher
                     .Plan(waiting, running,
                           {.free_blocks = 50,
                            .free_encode_rows = 1000,
                            .total_blocks = 100,
                            .total_encode_rows = 1000},
                           {}, kNow, tenants)
                     .admitted);
}

TEST(BatcherTenantsTest, RoomIsKeptForWhoHasWaited) {
  EXPECT_THAT(AdmittedBesideAKeptRoom(0, 0, 0), ElementsAre(1, 3, 2));
  // 60 for it, 15 for another, 21 for a third are too many: nobody of its own
  // tenant, and of others who leaves room beside those who came since.
  EXPECT_THAT(AdmittedBesideAKeptRoom(0, 2, 0), ElementsAre(3, 2));
  EXPECT_THAT(AdmittedBesideAKeptRoom(20, 2, 0), ElementsAre(3));
  EXPECT_THAT(AdmittedBesideAKeptRoom(25, 2, 0), IsEmpty());
  // In a step of tenant 2 alone, too.
  EXPECT_THAT(AdmittedBesideAKeptRoom(20, 2, 1), ElementsAre(3));
  EXPECT_THAT(AdmittedBesideAKeptRoom(25, 2, 1), IsEmpty());
}

TEST(BatcherTenantsTest, WhoHoldsNoMoreThanAShareKeepsIt) {
  Batcher batcher({.max_running = 6});
  std::vector<RequestView> running = Holding(6, 0);
  running[4].tenant = running[5].tenant = 1;
  const std::vector<RequestView> waiting = {Of(2, Newcomer(9, 8))};
  const auto preempted = [&](int weight, int newcomers_weight) {
    const std::vector<TenantView> tenants = {
        {.weight = weight}, {}, {.weight = newcomers_weight}};
    return batcher.Plan(waiting, running, kPlenty, {}, kNow, tenants).preempted;
  };
  EXPECT_THAT(preempted(1, 1), ElementsAre(3));
  EXPECT_THAT(preempted(4, 1), ElementsAre(5));
  // A seventh of the places is less than one.
  EXPECT_THAT(preempted(5, 1), IsEmpty());
  EXPECT_THAT(preempted(5, 2), ElementsAre(5));
}

TEST(BatcherTenantsTest, MemoryIsTakenFromWhoHoldsMost) {
  Batcher batcher({});
  const std::vector<RequestView> running = {Of(0, Decoding(1, 1, 1, 9)),
                                            Of(0, Decoding(2, 1, 1, 9)),
                                            Of(1, Decoding(3, 1, 1, 9))};
  EXPECT_THAT(batcher
                  .Plan({}, running, {.free_blocks = 2}, {}, kNow,
                        std::vector<TenantView>(2))
                  .preempted,
              ElementsAre(1));
  const std::vector<TenantView> heavy = {{.weight = 3}, {.weight = 1}};
  EXPECT_THAT(
      batcher.Plan({}, running, {.free_blocks = 2}, {}, kNow, heavy).preempted,
      ElementsAre(2));
}

}  // namespace
}  // namespace attend
