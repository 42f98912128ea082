// Processes of the sandbox that neither work nor end by themselves.

#include "engine/tokenizer/sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "tests/engine/tokenizer/sandbox_processes.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// Compares two lists of 2^60 elements.
constexpr char kEndless[] =
    "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}"
    "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
    "{{ ns.x == ns.y }}";

absl::StatusOr<std::string> Render(absl::string_view source,
                                   absl::Duration wait = kSandboxWait) {
  return Sandbox::Shared().Run(
      {.source = source, .variables = "{}", .wait = wait},
      [] { return false; });
}

bool Works() {
  return WaitUntil([] { return Render("{{ 1 + 1 }}").value_or("") == "2"; });
}

void Stop(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) kill(process, SIGSTOP);
}

bool AreGone(const std::vector<pid_t>& processes) {
  return WaitUntil([&] { return absl::c_none_of(processes, Lives); });
}

TEST(SandboxTest, ProcessesThatAreStoppedAreReplaced) {
  ASSERT_TRUE(WaitUntil([] {
    return Works() && SandboxWorkers().size() == Sandbox::kProcesses;
  }));
  const std::vector<pid_t> workers = SandboxWorkers();
  Stop(workers);
  EXPECT_TRUE(Works());
  EXPECT_TRUE(AreGone(workers));
}

// Nobody is left who could notice it but this process.
TEST(SandboxTest, AllProcessesMayBeStopped) {
  ASSERT_TRUE(Works());
  const std::vector<pid_t> starters = SandboxProcesses(getpid());
  const std::vector<pid_t> workers = SandboxWorkers();
  ASSERT_EQ(starters.size(), 1);
  Stop(starters);
  Stop(workers);
  EXPECT_TRUE(Works());
  EXPECT_TRUE(AreGone(workers));
  EXPECT_TRUE(AreGone(starters));
}

TEST(SandboxTest, AJobWhoseProcessIsStoppedSaysSo) {
  ASSERT_TRUE(Works());
  std::atomic<bool> done{false};
  std::thread stopper([&] {
    while (!done) Stop(SandboxWorkers());
  });
  const absl::Status ended = Render(kEndless).status();
  done = true;
  stopper.join();
  EXPECT_TRUE(absl::IsUnavailable(ended)) << ended;
  EXPECT_THAT(ended.message(), HasSubstr("was killed"));
  EXPECT_TRUE(Works());
}

// As of a process that waits for something that does not come.
TEST(SandboxTest, AJobHasALimitByTheWallClock) {
  ASSERT_TRUE(Works());
  const std::vector<pid_t> workers = SandboxWorkers();
  const absl::Status ended = Render(kEndless, absl::Milliseconds(50)).status();
  EXPECT_TRUE(absl::IsUnavailable(ended)) << ended;
  EXPECT_THAT(ended.message(),
              HasSubstr("rendering has not ended within 50ms"));
  EXPECT_TRUE(AreGone(workers));
  EXPECT_TRUE(Works());
}

}  // namespace
}  // namespace attend
