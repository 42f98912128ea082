#include "engine/compute/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "engine/compute/cgroups.h"
#include "engine/compute/item_queue.h"
#include "engine/compute/node_memory.h"
#include "engine/tensor/buffer.h"
#include "tests/engine/compute/two_nodes.h"

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

// The CPU of a member that stays on one.
int OnlyCpu() {
  const cpu_set_t cpus = AllowedCpus();
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  return sched_getcpu();
}

TEST(TeamOnNodesTest, EachMemberStaysOnItsNode) {
  const std::vector<cpu_set_t> nodes = TwoNodes();
  std::thread([&] {
    Team team(4, NumaNodes(nodes));
    team.PlaceCaller();
    std::vector<int> cpus(4);
    for (int run = 0; run < 10; ++run) {
      team.Run([&](int member) { cpus[member] = OnlyCpu(); });
      for (int member = 0; member < 4; ++member) {
        EXPECT_EQ(team.node(member), member / 2);
        EXPECT_TRUE(CPU_ISSET(cpus[member], &nodes[member / 2]));
      }
    }
  }).join();
}

// What the kernel takes back and gives anew may not reach beyond the memory,
// whose ends are within pages.
TEST(TeamOnNodesTest, PlacedMemoryHasZerosAndNeighboursKeepTheirs) {
  const Team team(3, NumaNodes(TwoNodes()));
  constexpr size_t kBytes = 5 << 20;
  for (const size_t begin : {0, 1000, 4096}) {
    for (const size_t end : {begin + 100, begin + 5000, kBytes - 1000}) {
      const auto all = std::make_unique<std::vector<char>>(kBytes, 'x');
      std::fill(all->begin() + begin, all->begin() + end, '\0');
      const std::vector<char> expected = *all;
      PlaceInTurns(team, all->data() + begin, end - begin);
      EXPECT_TRUE(*all == expected) << begin << " " << end;
      PlaceShares(team, all->data() + begin, (end - begin) / 50, 50, 4);
      EXPECT_TRUE(*all == expected) << begin << " " << end;
    }
  }
}

// No step pays for a page fault.
TEST(TeamOnNodesTest, PlacedMemoryIsThere) {
  const Team team(3, NumaNodes(TwoNodes()));
  Buffer<char> memory(size_t{16} << 20);
  const size_t page = sysconf(_SC_PAGESIZE);
  for (const bool shares : {true, false}) {
    if (shares) {
      PlaceShares(team, memory.data(), 64 << 10, 256, 1);
    } else {
      PlaceInTurns(team, memory.data(), memory.size());
    }
    std::vector<unsigned char> there(memory.size() / page);
    ASSERT_EQ(mincore(memory.data(), memory.size(), there.data()), 0);
    EXPECT_THAT(there, testing::Each(testing::Truly([](unsigned char bits) {
                  return (bits & 1) != 0;
                })));
  }
}

// The node that a page is in, as the kernel counts them.
int NodeOfPage(char* page) {
  void* const address = page;
  int node = -1;
  EXPECT_EQ(syscall(SYS_move_pages, 0, 1, &address, nullptr, &node, 0), 0);
  return node;
}

int NodeOfThisThread() {
  unsigned cpu = 0;
  unsigned node = 0;
  EXPECT_EQ(syscall(SYS_getcpu, &cpu, &node, nullptr), 0);
  return static_cast<int>(node);
}

TEST(TeamOnNodesTest, MemoryIsInTheNodeOfItsMember) {
  const NumaNodes nodes = NumaNodes::Find();
  if (nodes.size() == 1) GTEST_SKIP() << "one NUMA node";
  if (ReadLine("/proc/sys/kernel/numa_balancing") != "0") {
    GTEST_SKIP() << "the kernel moves pages";
  }
  const Team team(2 * nodes.size(), nodes);
  Buffer<char> memory(size_t{64} << 20);
  constexpr size_t kItem = 64 << 10;
  const int items = static_cast<int>(memory.size() / kItem);
  PlaceShares(team, memory.data(), kItem, items, 1);
  for (int member = 0; member < team.size(); ++member) {
    const OnNode there(nodes, team.node(member));
    const Range share = Share(items, member, team.size());
    for (int item = share.begin; item < share.end; ++item) {
      ASSERT_EQ(NodeOfPage(memory.data() + item * kItem), NodeOfThisThread());
    }
  }
  PlaceInTurns(team, memory.data(), memory.size());
  std::map<int, int> pages;
  for (int item = 0; item < items; ++item) {
    ++pages[NodeOfPage(memory.data() + item * kItem)];
  }
  EXPECT_THAT(pages, testing::SizeIs(nodes.size()));
  for (const auto& [node, count] : pages) {
    EXPECT_NEAR(count, items / nodes.size(), kHugePageBytes / kItem);
  }
}

// The items that one member takes if it is alone.
std::vector<int> TakenBy(int member, const Team& team, int count) {
  ItemQueue queue(team, count);
  std::vector<int> taken;
  for (int item; (item = queue.Take(member)) != ItemQueue::kNone;) {
    taken.push_back(item);
  }
  return taken;
}

TEST(ItemQueueTest, GivesThoseOfTheNodeFirst) {
  const Team team(4, NumaNodes(TwoNodes()));
  EXPECT_EQ(TakenBy(1, team, 6), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(TakenBy(2, team, 6), (std::vector<int>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(TakenBy(3, team, 1), (std::vector<int>{0}));
  EXPECT_EQ(TakenBy(3, team, 0), (std::vector<int>{}));
  EXPECT_EQ(TakenBy(2, Team(3), 4), (std::vector<int>{0, 1, 2, 3}));
}

TEST(ItemQueueTest, GivesEachItemToOneMember) {
  for (const bool nodes : {false, true}) {
    Team team(4, nodes ? NumaNodes(TwoNodes()) : NumaNodes());
    ItemQueue queue(team, 1000);
    std::vector<int> taken(1000);  // each written by whom the item was given
    team.Run([&](int member) {
      for (int item; (item = queue.Take(member)) != ItemQueue::kNone;) {
        ++taken[item];
      }
    });
    EXPECT_THAT(taken, testing::Each(1));
  }
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
