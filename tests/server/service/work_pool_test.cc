#include "server/service/work_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;

constexpr size_t kLong = 10 << 20;

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
    ASSERT_TRUE(pool.Submit(1, held.Work()).ok());
    held.WaitUntilItRuns();  // it left the queue
    EXPECT_TRUE(pool.Submit(1, [&] { ++runs; }).ok());
    EXPECT_TRUE(pool.Submit(1, [&] { ++runs; }).ok());
    const absl::Status status = pool.Submit(1, [&] { ++runs; });
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("limit is 2"), std::string::npos);
    pool.Continue(1, [&] { pool.Continue(1, [&] { ++runs; }); });
    held.Go();
  }
  EXPECT_EQ(runs, 3);
}

TEST(WorkPoolTest, ShortWorkOvertakesLongWork) {
  std::vector<int> order;
  Held held;
  {
    WorkPool pool(1, 9);
    ASSERT_TRUE(pool.Submit(kLong, held.Work()).ok());
    held.WaitUntilItRuns();
    for (const int number : {0, 1}) {
      ASSERT_TRUE(
          pool.Submit(kLong, [&order, number] { order.push_back(number); })
              .ok());
    }
    ASSERT_TRUE(pool.Submit(1 << 20, [&] { order.push_back(2); }).ok());
    ASSERT_TRUE(pool.Submit(10, [&] { order.push_back(3); }).ok());
    held.Go();
  }
  EXPECT_THAT(order, ElementsAre(3, 2, 0, 1));
}

TEST(WorkPoolTest, LongWorkLeavesAThreadToShortWork) {
  Held first, second;
  std::promise<void> ran;
  WorkPool pool(2, 9);
  ASSERT_TRUE(pool.Submit(kLong, first.Work()).ok());
  ASSERT_TRUE(pool.Submit(kLong, second.Work()).ok());
  first.WaitUntilItRuns();
  ASSERT_TRUE(pool.Submit(10, [&] { ran.set_value(); }).ok());
  ran.get_future().wait();  // for ever, if it waits for long work
  first.Go();
  second.Go();
}

}  // namespace
}  // namespace attend
