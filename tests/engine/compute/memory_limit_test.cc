#include "engine/compute/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// A file system of this test's own: a machine of 32 GiB, a process of 1 GiB.
class MemoryLimitTest : public testing::Test {
 protected:
  MemoryLimitTest() {
    std::string name = testing::TempDir() + "memory_limit_XXXXXX";
    root_ = mkdtemp(name.data());
    Write("proc/meminfo", "MemTotal:       33554432 kB\nMemFree:  1 kB\n");
    Write("proc/self/status", "VmRSS:\t 2097152 kB\nRssAnon:\t 1048576 kB\n");
  }
  ~MemoryLimitTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  MemoryLimit Limit() { return FindMemoryLimit(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(MemoryLimitTest, TheMachineIsALimit) {
  EXPECT_EQ(Limit().bytes, 32 * kGiB);
  EXPECT_EQ(Limit().source, "memory of the machine");
  EXPECT_EQ(Limit().used, kGiB);
}

TEST_F(MemoryLimitTest, Version2) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("sys/fs/cgroup/pod/box/memory.max", "8589934592\n");
  EXPECT_EQ(Limit().bytes, 8 * kGiB);
  EXPECT_EQ(Limit().source, "cgroup /pod/box: memory.max");
}

TEST_F(MemoryLimitTest, TheLeastOfAllAboveCounts) {
  Write("proc/self/cgroup", "0::/pod/box\n");
  Write("sys/fs/cgroup/pod/box/memory.max", "max\n");
  Write("sys/fs/cgroup/pod/memory.max", "4294967296\n");
  Write("sys/fs/cgroup/memory.max", "8589934592\n");
  EXPECT_EQ(Limit().bytes, 4 * kGiB);
  EXPECT_EQ(Limit().source, "cgroup /pod: memory.max");
}

TEST_F(MemoryLimitTest, Version1AndBothAtOnce) {
  Write("proc/self/cgroup", "4:memory:/a\n5:cpu:/a\n0::/a\n");
  // What version 1 writes where there is no limit.
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Limit().bytes, 32 * kGiB);
  Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(Limit().bytes, 2 * kGiB);
  EXPECT_EQ(Limit().source, "cgroup /a: memory.limit_in_bytes");
  Write("sys/fs/cgroup/unified/a/memory.max", "1073741824\n");
  EXPECT_EQ(Limit().source, "cgroup /a: memory.max");
}

TEST_F(MemoryLimitTest, NonsenseIsNoLimit) {
  Write("proc/meminfo", "MemTotal\n");
  Write("proc/self/cgroup", "0::/a\n");
  Write("sys/fs/cgroup/a/memory.max", "much\n");
  EXPECT_EQ(Limit().bytes, UINT64_MAX);
}

TEST(CheckMemoryTest, AllNeedsAndWhatIsUsedCount) {
  const MemoryLimit limit = {.bytes = 4 * kGiB, .source = "x", .used = kGiB};
  EXPECT_TRUE(CheckMemory({{"a", kGiB}, {"b", 2 * kGiB}}, limit).ok());
  EXPECT_FALSE(CheckMemory({{"a", kGiB}, {"b", 2 * kGiB + 1}}, limit).ok());
  EXPECT_FALSE(CheckMemory({{"a", kGiB}, {"b", UINT64_MAX}}, limit).ok());
}

TEST(CheckMemoryTest, TheErrorHasAllFigures) {
  const absl::Status status =
      CheckMemory({{"the KV cache", 900 * kGiB}, {"weights", 15 << 20}},
                  {.bytes = 45 * kGiB / 2, .source = "cgroup /a", .used = 900});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "the KV cache of 900.0 GiB, weights of 15.0 MiB: together 900.0 "
            "GiB, more than the 22.5 GiB that this process may use (cgroup "
            "/a), of which it has 900 bytes already");
}

// Ends the process, with 0 if there was no room.
void AskUnderALimit() {
  const rlimit limit = {2 * kGiB, 2 * kGiB};
  setrlimit(RLIMIT_AS, &limit);
  const absl::Status status = CheckAddressSpace("a test", 4 * kGiB);
  fputs(std::string(status.message()).c_str(), stderr);
  _exit(status.ok() ? 1 : 0);
}

TEST(AddressSpaceTest, IsAskedOfTheKernel) {
  EXPECT_TRUE(CheckAddressSpace("a test", kGiB).ok());
  EXPECT_EXIT(AskUnderALimit(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("a test: 4.0 GiB more"),
                    HasSubstr("ulimit -v is 2.0 GiB")));
}

TEST(MemoryOfThisMachineTest, IsMoreThanIsUsed) {
  EXPECT_GT(FindMemoryLimit().bytes, FindMemoryLimit().used);
  EXPECT_GT(FindMemoryLimit().used, 0u);
}

}  // namespace
}  // namespace attend
