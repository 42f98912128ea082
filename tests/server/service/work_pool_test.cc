#include "server/service/work_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;

constexpr size_t kLong = 10 << 20;
constexpr Tenant kOne = {.id = 1};
constexpr Tenant kOther = {.id = 2};

// Work that does not end before it may.
class Held {
 public:
  std::function<void()> Work() {
    return [this] {
      began_.set_value();
      go_.get_future().wait();
    };
  }
  void WaitUntilItRuns() { began_.get_future().wait(); }
  void Go() { go_.set_value(); }

 private:
  std::promise<void> began_, go_;
};

TEST(WorkPoolTest, RefusesWhatIsTooMuchAndRunsWhatItAccepted) {
  std::atomic<int> runs{0};
  Held held;
  {
    WorkPool pool(1, 2);
    ASSERT_TRUE(pool.Submit(kOne, 1, held.Work()).ok());
    held.WaitUntilItRuns();  // it left the queue
    EXPECT_TRUE(pool.Submit(kOne, 1, [&] { ++runs; }).ok());
    EXPECT_TRUE(pool.Submit(kOne, 1, [&] { ++runs; }).ok());
    const absl::Status status = pool.Submit(kOne, 1, [&] { ++runs; });
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("limit is 2"), std::string::npos);
    pool.Continue(kOne, 1, [&] { pool.Continue(kOne, 1, [&] { ++runs; }); });
    held.Go();
  }
  EXPECT_EQ(runs, 3);
}

TEST(WorkPoolTest, ShortWorkOvertakesLongWork) {
  std::vector<int> order;
  Held held;
  {
    WorkPool pool(1, 9);
    ASSERT_TRUE(pool.Submit(kOne, kLong, held.Work()).ok());
    held.WaitUntilItRuns();
    for (const int number : {0, 1}) {
      ASSERT_TRUE(pool.Submit(kOne, kLong,
                              [&order, number] { order.push_back(number); })
                      .ok());
    }
    ASSERT_TRUE(pool.Submit(kOne, 1 << 20, [&] { order.push_back(2); }).ok());
    ASSERT_TRUE(pool.Submit(kOne, 10, [&] { order.push_back(3); }).ok());
    held.Go();
  }
  EXPECT_THAT(order, ElementsAre(3, 2, 0, 1));
}

TEST(WorkPoolTest, LongWorkLeavesAThreadToShortWork) {
  Held first, second;
  std::promise<void> ran;
  WorkPool pool(2, 9);
  ASSERT_TRUE(pool.Submit(kOne, kLong, first.Work()).ok());
  ASSERT_TRUE(pool.Submit(kOne, kLong, second.Work()).ok());
  first.WaitUntilItRuns();
  ASSERT_TRUE(pool.Submit(kOne, 10, [&] { ran.set_value(); }).ok());
  ran.get_future().wait();  // for ever, if it waits for long work
  first.Go();
  second.Go();
}

// In the order in which a pool of one thread runs them.
class WorkPoolOrder {
 public:
  WorkPoolOrder() {
    EXPECT_TRUE(pool_->Submit({.id = 99}, 1, held_.Work()).ok());
    held_.WaitUntilItRuns();
  }
  void Submit(const Tenant& tenant, size_t bytes, int times = 1) {
    for (int i = 0; i < times; ++i) {
      EXPECT_TRUE(
          pool_->Submit(tenant, bytes, [this, &tenant] { Note(tenant); }).ok());
    }
  }
  // The ids of the tenants.
  std::vector<int> Run() {
    held_.Go();
    pool_.reset();
    return order_;
  }

 private:
  void Note(const Tenant& tenant) {
    order_.push_back(static_cast<int>(tenant.id));
  }

  std::vector<int> order_;
  Held held_;
  std::unique_ptr<WorkPool> pool_ = std::make_unique<WorkPool>(1, 99);
};

TEST(WorkPoolTest, AFloodOfLongTextsHoldsUpNobodyElse) {
  WorkPoolOrder order;
  order.Submit(kOne, kShortWork + 1, 5);
  order.Submit(kOther, kShortWork);
  const std::vector<int> ran = order.Run();
  // One of the flood, which came first; not a second one.
  EXPECT_LE(std::find(ran.begin(), ran.end(), 2) - ran.begin(), 1);
}

TEST(WorkPoolTest, TenantsTakeTurnsHoweverManyTextsEachHas) {
  WorkPoolOrder order;
  order.Submit(kOne, 100, 6);
  order.Submit(kOther, 100, 2);
  EXPECT_THAT(order.Run(), ElementsAre(1, 2, 1, 2, 1, 1, 1, 1));
}

TEST(WorkPoolTest, TenantsShareBytesNotTurns) {
  WorkPoolOrder order;
  order.Submit(kOne, 900, 4);    // 1,000 with what each takes beside
  order.Submit(kOther, 400, 8);  // 500
  const std::vector<int> ran = order.Run();
  EXPECT_EQ(std::count(ran.begin(), ran.begin() + 6, 2), 4);
}

TEST(WorkPoolTest, TenantsShareByWeight) {
  const Tenant heavy = {.id = 3, .weight = 3};
  WorkPoolOrder order;
  order.Submit(kOne, 100, 4);
  order.Submit(heavy, 100, 6);
  const std::vector<int> ran = order.Run();
  EXPECT_EQ(std::count(ran.begin(), ran.begin() + 8, 3), 6);
}

TEST(WorkPoolTest, WhoeverFillsTheQueueLeavesPlacesToOthers) {
  Held held;
  WorkPool pool(1, 2);
  ASSERT_TRUE(pool.Submit({.id = 99}, 1, held.Work()).ok());
  held.WaitUntilItRuns();
  const auto submit = [&](const Tenant& tenant) {
    return pool.Submit(tenant, 1, [] {}).ok();
  };
  EXPECT_TRUE(submit(kOne));
  EXPECT_TRUE(submit(kOne));
  EXPECT_FALSE(submit(kOne));
  EXPECT_TRUE(submit(kOther));
  EXPECT_FALSE(submit(kOther));
  held.Go();
}

}  // namespace
}  // namespace attend
