#include "engine/compute/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace attend {
namespace {

TEST(TeamTest, CallsEveryMemberOnce) {
  for (int size : {1, 2, 3, 7}) {
    Team team(size);
    EXPECT_EQ(team.size(), size);
    std::vector<int> calls(size);  // each written by its member alone
    for (int run = 0; run < 100; ++run) {
      team.Run([&](int member) { ++calls[member]; });
    }
    EXPECT_THAT(calls, testing::Each(100)) << "size " << size;
  }
}

TEST(TeamTest, CallerSeesWhatMembersWrote) {
  Team team(3);
  std::vector<int> values(3 * 1000);
  for (int run = 1; run <= 50; ++run) {
    team.Run([&](int member) {
      for (int i = 0; i < 1000; ++i) values[member * 1000 + i] += run;
    });
    EXPECT_THAT(values, testing::Each(run * (run + 1) / 2));
  }
}

TEST(TeamTest, MemberZeroIsTheCaller) {
  Team team(2);
  std::thread::id ids[2];
  team.Run([&](int member) { ids[member] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], ids[0]);
}

TEST(TeamTest, MembersRunAtTheSameTime) {
  Team team(3);
  std::atomic<int> arrived = 0;
  // Returns only if all three are inside together.
  team.Run([&](int) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(TeamTest, MoreMembersThanCoresGetOn) {
  Team team(static_cast<int>(std::thread::hardware_concurrency()) * 4);
  std::atomic<int> calls = 0;
  for (int run = 0; run < 20; ++run) team.Run([&](int) { ++calls; });
  EXPECT_EQ(calls, 20 * team.size());
}

// Each worker thread of a server may be the caller, one after the other.
TEST(TeamTest, CallerMayChange) {
  Team team(2);
  std::atomic<int> calls = 0;
  team.Run([&](int) { ++calls; });
  std::thread([&] { team.Run([&](int) { ++calls; }); }).join();
  EXPECT_EQ(calls, 4);
}

TEST(ShareTest, CoversEverythingOnceInOrder) {
  for (int total : {0, 1, 5, 64, 1000}) {
    for (int members : {1, 2, 3, 16}) {
      for (int grain : {1, 4, 64}) {
        int next = 0;
        for (int member = 0; member < members; ++member) {
          const Range range = Share(total, member, members, grain);
          EXPECT_EQ(range.begin, next);
          EXPECT_LE(range.begin, range.end);
          if (range.begin < total) {
            EXPECT_EQ(range.begin % grain, 0);
          }
          next = range.end;
        }
        EXPECT_EQ(next, total);
      }
    }
  }
}

TEST(ShareTest, DividesEvenly) {
  EXPECT_EQ(Share(8001, 0, 2, 64).end, 4032);
  EXPECT_EQ(Share(10, 1, 3).end - Share(10, 1, 3).begin, 3);
}

TEST(ShareTest, DoesNotOverflow) {
  EXPECT_EQ(Share(1 << 30, 63, 64).end, 1 << 30);
}

}  // namespace
}  // namespace attend
