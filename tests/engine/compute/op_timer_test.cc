#include "engine/compute/op_timer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/compute/compute.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// Counts up, and keeps what it hears.
class FakeWatch final : public OpWatch {
 public:
  struct Heard {
    OpTime op;
    std::thread::id thread;
  };

  FakeWatch() { WatchOps(this); }
  ~FakeWatch() override { WatchOps(nullptr); }

  int64_t Now() override { return ++now_; }
  void OnOp(const OpTime& op) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    heard_.push_back({op, std::this_thread::get_id()});
  }
  std::vector<Heard> heard() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return heard_;
  }
  // On this thread.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Heard& heard : heard()) {
      if (heard.thread == std::this_thread::get_id()) {
        names.emplace_back(heard.op.name);
      }
    }
    return names;
  }

 private:
  std::atomic<int64_t> now_{0};
  mutable std::mutex mutex_;
  std::vector<Heard> heard_;
};

TEST(OpTimerTest, TellsOfOpsInsideOfEachOther) {
  FakeWatch watch;
  {
    const OpTimer outer({.name = "outer", .rows = 7, .layer = 2});
    const OpTimer inner({.name = "inner"});
  }
  EXPECT_THAT(watch.names(), ElementsAre("inner", "outer"));
  const OpTime inner = watch.heard()[0].op;
  const OpTime outer = watch.heard()[1].op;
  EXPECT_LT(outer.begin, inner.begin);
  EXPECT_LT(inner.begin, inner.end);
  EXPECT_LT(inner.end, outer.end);
  EXPECT_EQ(outer.rows, 7);
  EXPECT_EQ(outer.layer, 2);
  EXPECT_EQ(inner.layer, -1);
}

TEST(OpTimerTest, PartsOfMembersHaveTheNameOfTheOp) {
  FakeWatch watch;
  Compute compute({.threads = 3});
  Team& team = compute.team();
  {
    const OpTimer outer({.name = "outer"});
    {
      const OpTimer inner({.name = "inner"});
      team.Run([](int) {});
    }
    team.Run([](int) {});
  }
  team.Run([](int) {});
  EXPECT_THAT(watch.names(),
              ElementsAre("inner", "inner", "outer", "outer", "part"));
  std::multiset<std::string> of_others;
  std::set<std::thread::id> threads;
  for (const FakeWatch::Heard& heard : watch.heard()) {
    if (heard.thread == std::this_thread::get_id()) continue;
    of_others.insert(heard.op.name);
    threads.insert(heard.thread);
  }
  EXPECT_THAT(of_others,
              ElementsAre("inner", "inner", "outer", "outer", "part", "part"));
  EXPECT_EQ(threads.size(), 2);
}

// What a member does alone, it tells of on its own thread.
TEST(OpTimerTest, MembersAloneTellOfOpsThemselves) {
  FakeWatch watch;
  Compute compute({.threads = 2});
  compute.team().Run([&](int) { const OpTimer timer({.name = "alone"}); });
  int alone = 0;
  for (const FakeWatch::Heard& heard : watch.heard()) {
    if (std::string(heard.op.name) == "alone") ++alone;
  }
  EXPECT_EQ(alone, 2);
}

TEST(OpTimerTest, NobodyHearsAfterTheWatchHasGone) {
  Compute compute({.threads = 2});
  const auto work = [&] {
    const OpTimer timer({.name = "op"});
    compute.team().Run([](int) {});
  };
  FakeWatch watch;
  work();
  EXPECT_EQ(watch.heard().size(), 3);
  WatchOps(nullptr);
  work();
  EXPECT_EQ(watch.heard().size(), 3);
}

}  // namespace
}  // namespace attend
