#include "engine/compute/leave_cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace attend {
namespace {

cpu_set_t Allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return allowed;
}

// In a thread of its own: the CPUs of the others stay as they are.
template <typename Body>
void InThread(Body body) {
  std::thread(body).join();
}

TEST(LeaveCpuTest, MovesToAnotherCpuThatTheThreadMayUse) {
  InThread([] {
    const cpu_set_t before = Allowed();
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU";
    // The system may move the thread between the two calls.
    bool moved = false;
    for (int i = 0; i < 100 && !moved; ++i) moved = LeaveCpu(CurrentCpu());
    EXPECT_TRUE(moved);
    const cpu_set_t after = Allowed();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  });
}

TEST(LeaveCpuTest, StaysWhereItRunsIfItIsNotOnThatCpu) {
  InThread([] { EXPECT_FALSE(LeaveCpu(-1)); });
}

TEST(LeaveCpuTest, StaysOnTheOnlyCpuThatTheThreadMayUse) {
  InThread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(CurrentCpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(LeaveCpu(CurrentCpu()));
    const cpu_set_t after = Allowed();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  });
}

}  // namespace
}  // namespace attend
