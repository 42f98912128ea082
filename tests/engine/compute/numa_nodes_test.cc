#include "engine/compute/numa_nodes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/compute/two_nodes.h"

namespace attend {
namespace {

// The number of the first CPU of a node.
int CpuOf(const cpu_set_t& node) {
  int cpu = 0;
  while (!CPU_ISSET(cpu, &node)) ++cpu;
  return cpu;
}

// What is found where the system has these nodes: their CPUs by number.
NumaNodes Found(const std::string& online,
                const std::map<int, std::string>& nodes) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(root);
  const std::filesystem::path directory = root / "sys/devices/system/node";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "online") << online << "\n";
  for (const auto& [number, cpus] : nodes) {
    const std::filesystem::path node =
        directory / ("node" + std::to_string(number));
    std::filesystem::create_directories(node);
    std::ofstream(node / "cpulist") << cpus << "\n";
  }
  NumaNodes found = NumaNodes::Find(root.string());
  std::filesystem::remove_all(root);
  return found;
}

// Calls `body` in a thread of its own: other threads' CPUs stay as they are.
template <typename Body>
void InThread(Body body) {
  std::thread(body).join();
}

TEST(NumaNodesTest, FindsNodesWithCpusThatTheThreadMayUse) {
  const std::vector<cpu_set_t> two = TwoNodes();
  const std::string first = std::to_string(CpuOf(two[0]));
  const std::string last = std::to_string(CpuOf(two[1]));
  // Node 1 has memory alone, node 2 CPUs that this thread may not use.
  const NumaNodes nodes =
      Found("0-3", {{0, first + "," + first}, {1, ""}, {2, "1023"}, {3, last}});
  EXPECT_EQ(nodes.size(), 2);
  EXPECT_EQ(nodes.cpus(), 2);
  InThread([&] {
    for (int node = 0; node < 2; ++node) {
      nodes.Enter(node);
      const cpu_set_t now = AllowedCpus();
      EXPECT_TRUE(CPU_EQUAL(&now, &two[node])) << node;
    }
  });
}

TEST(NumaNodesTest, OneNodeIsLeftAlone) {
  for (const NumaNodes& nodes :
       {NumaNodes(), Found("0", {{0, "0-1023"}}), Found("", {}),
        Found("0-1", {{0, "0-1023"}, {1, "x-"}}), Found("0-1", {{0, "0"}}),
        Found("0-7000", {{0, "0"}, {1, "0"}})}) {
    EXPECT_EQ(nodes.size(), 1);
    EXPECT_EQ(nodes.cpus(), 0);
    EXPECT_EQ(nodes.NodeOf(6, 7), 0);
    InThread([&] {
      const cpu_set_t before = AllowedCpus();
      nodes.Enter(0);
      const cpu_set_t after = AllowedCpus();
      EXPECT_TRUE(CPU_EQUAL(&before, &after));
    });
  }
}

TEST(NumaNodesTest, MembersStandOnNodesInProportionToCpus) {
  std::vector<cpu_set_t> sets(2);
  for (cpu_set_t& set : sets) CPU_ZERO(&set);
  for (int cpu = 0; cpu < 6; ++cpu) CPU_SET(cpu, &sets[cpu < 2 ? 0 : 1]);
  const NumaNodes nodes(sets);
  const auto all = [&](int members) {
    std::vector<int> found;
    for (int m = 0; m < members; ++m) found.push_back(nodes.NodeOf(m, members));
    return found;
  };
  EXPECT_EQ(all(6), (std::vector<int>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(all(3), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(all(1), (std::vector<int>{0}));
}

TEST(NumaNodesTest, AThreadComesBackFromANode) {
  const std::vector<cpu_set_t> two = TwoNodes();
  const NumaNodes nodes(two);
  InThread([&] {
    const cpu_set_t before = AllowedCpus();
    for (int node = 0; node < 2; ++node) {
      {
        const OnNode there(nodes, node);
        const cpu_set_t now = AllowedCpus();
        EXPECT_TRUE(CPU_EQUAL(&now, &two[node]));
      }
      const cpu_set_t after = AllowedCpus();
      EXPECT_TRUE(CPU_EQUAL(&before, &after));
    }
  });
}

}  // namespace
}  // namespace attend
