#include "engine/compute/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace attend {
namespace {

// A file system of this test's own.
class CpuQuotaTest : public testing::Test {
 protected:
  CpuQuotaTest()
      : root_(std::filesystem::path(testing::TempDir()) /
              ("cpu_quota_" + std::string(testing::UnitTest::GetInstance()
                                              ->current_test_info()
                                              ->name()))) {
    std::filesystem::remove_all(root_);
  }
  ~CpuQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<double> Limit() { return CgroupCpuLimit(root_.string()); }

 private:
  const std::filesystem::path root_;
};

TEST_F(CpuQuotaTest, NothingThereIsNoLimit) {
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CpuQuotaTest, Version2) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("sys/fs/cgroup/pod/box/cpu.max", "250000 100000\n");
  EXPECT_EQ(Limit(), 2.5);
}

TEST_F(CpuQuotaTest, Version2WithoutLimit) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CpuQuotaTest, ParentsCount) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("sys/fs/cgroup/pod/box/cpu.max", "400000 100000\n");
  Write("sys/fs/cgroup/pod/cpu.max", "150000 50000\n");
  EXPECT_EQ(Limit(), 3.0);
}

// In a cgroup namespace the own group is the root of the mount.
TEST_F(CpuQuotaTest, Version2InANamespace) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(Limit(), 0.5);
}

// Without one the path is the host's, which does not exist in the container.
TEST_F(CpuQuotaTest, PathOfTheHost) {
  Write("proc/self/cgroup", "0::/system.slice/docker-1.scope\n");
  Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(Limit(), 1.0);
}

TEST_F(CpuQuotaTest, PathOutsideTheNamespace) {
  Write("proc/self/cgroup", "0::/../other\n");
  Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  Write("sys/fs/other/cpu.max", "1000 100000\n");
  EXPECT_EQ(Limit(), 1.0);
}

TEST_F(CpuQuotaTest, Version1) {
  Write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a/b\n");
  Write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "600000\n");
  Write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "200000\n");
  EXPECT_EQ(Limit(), 3.0);
}

TEST_F(CpuQuotaTest, Version1WithoutLimit) {
  Write("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CpuQuotaTest, CpusetIsNotCpu) {
  Write("proc/self/cgroup", "4:cpuset:/\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST_F(CpuQuotaTest, NonsenseIsNoLimit) {
  Write("proc/self/cgroup", "\n:\n0::/a\n");
  Write("sys/fs/cgroup/a/cpu.max", "many 0\n");
  Write("sys/fs/cgroup/cpu.max", "100000\n");
  EXPECT_EQ(Limit(), std::nullopt);
}

TEST(ThisMachineTest, HasAtLeastOneCpu) { EXPECT_GE(CpuQuota(), 1); }

}  // namespace
}  // namespace attend
