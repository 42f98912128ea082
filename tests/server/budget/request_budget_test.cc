#include "server/budget/request_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace attend {
namespace {

// What arrives for a call of a tenant.
struct Call {
  Call(RequestBudget& budget, uint64_t tenant)
      : entry(budget, tenant, [this] { cut = true; }) {}
  bool cut = false;
  RequestBudget::Entry entry;
};

TEST(RequestBudgetTest, TheOldestOfTheSameTenantMakesRoom) {
  RequestBudget budget(400);
  Call idle(budget, 1), first(budget, 1), second(budget, 1), third(budget, 1);
  EXPECT_TRUE(first.entry.Grow(100));
  EXPECT_TRUE(second.entry.Grow(150));
  EXPECT_TRUE(third.entry.Grow(50));
  EXPECT_TRUE(third.entry.Grow(50));
  EXPECT_TRUE(first.cut);
  EXPECT_FALSE(first.entry.Grow(1)) << "it is at its end";
  EXPECT_FALSE(idle.cut || second.cut || third.cut);
  EXPECT_EQ(budget.bytes(), 250u);
}

TEST(RequestBudgetTest, ATenantLeavesAQuarterToTheOthers) {
  RequestBudget budget(400);
  Call mine(budget, 1), yours(budget, 2);
  EXPECT_FALSE(mine.entry.Grow(301));
  EXPECT_TRUE(mine.entry.Grow(300));
  EXPECT_TRUE(yours.entry.Grow(100));
  EXPECT_FALSE(mine.cut || yours.cut);
}

TEST(RequestBudgetTest, OfAllTenantsTheOneWithMostMakesRoom) {
  RequestBudget budget(400);
  Call light(budget, 1), heavy(budget, 2), heavy_later(budget, 2);
  EXPECT_TRUE(light.entry.Grow(100));
  EXPECT_TRUE(heavy.entry.Grow(150));
  EXPECT_TRUE(heavy_later.entry.Grow(150));
  Call newcomer(budget, 3);
  EXPECT_TRUE(newcomer.entry.Grow(10));
  EXPECT_TRUE(heavy.cut);
  EXPECT_FALSE(light.cut || heavy_later.cut || newcomer.cut);
}

// They end by themselves, and soon.
TEST(RequestBudgetTest, RequestsThatHaveArrivedAreNotCut) {
  size_t freed = 0;
  RequestBudget budget(400, [&](size_t bytes) { freed += bytes; });
  Call mine(budget, 1);
  std::vector<RequestBytes> arrived;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(mine.entry.Grow(100));
    arrived.push_back(mine.entry.Take(100));
  }
  Call other(budget, 1);
  EXPECT_FALSE(other.entry.Grow(1));
  EXPECT_FALSE(mine.entry.Grow(1));
  EXPECT_FALSE(mine.cut);
  arrived.pop_back();
  EXPECT_EQ(freed, 100u);
  EXPECT_TRUE(other.entry.Grow(1));
}

TEST(RequestBudgetTest, WhatIsCutIsToldAsFreeAtItsEnd) {
  size_t freed = 0;
  RequestBudget budget(400, [&](size_t bytes) { freed += bytes; });
  std::optional<Call> first(std::in_place, budget, 1);
  EXPECT_TRUE(first->entry.Grow(300));
  {
    Call second(budget, 1);
    EXPECT_TRUE(second.entry.Grow(300));
    EXPECT_TRUE(first->cut);
    EXPECT_EQ(freed, 0u);
    first.reset();
    EXPECT_EQ(freed, 300u);
  }
  EXPECT_EQ(freed, 600u);
  EXPECT_EQ(budget.bytes(), 0u);
}

// Whatever comes, in any order, the counts hold.
TEST(RequestBudgetTest, CountsHoldInRandomOrder) {
  std::mt19937 random(1);
  RequestBudget budget(1000);
  std::map<int, std::unique_ptr<Call>> calls;
  std::vector<RequestBytes> arrived;
  for (int step = 0; step < 20000; ++step) {
    std::unique_ptr<Call>& call = calls[random() % 30];
    if (call == nullptr) call = std::make_unique<Call>(budget, random() % 4);
    switch (random() % 4) {
      case 0:
        call.reset();
        break;
      case 1:
        if (random() % 2 == 0) arrived.clear();
        arrived.push_back(call->entry.Take(random() % 100));
        break;
      default:
        EXPECT_TRUE(!call->entry.Grow(1 + random() % 200) || !call->cut);
    }
    EXPECT_LE(budget.bytes(), budget.limit());
  }
  calls.clear();
  arrived.clear();
  EXPECT_EQ(budget.bytes(), 0u);
}

}  // namespace
}  // namespace attend
