// The server's child processes, and the server as process 1 of a container.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

struct ChildProcess {
  pid_t pid;
  char state;  // 'Z': has ended, and was not reaped
};

std::vector<ChildProcess> ChildrenOf(pid_t parent) {
  std::vector<ChildProcess> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);  // "123 (attend-sandbox) S 1 ..."
    const size_t end = stat.rfind(") ");
    if (end == std::string::npos) continue;
    std::istringstream fields(stat.substr(end + 2));
    char state;
    pid_t its_parent;
    if (fields >> state >> its_parent && its_parent == parent) {
      children.push_back({std::stoi(stat), state});
    }
  }
  return children;
}

bool HasZombie(pid_t parent) {
  const std::vector<ChildProcess> children = ChildrenOf(parent);
  return std::any_of(
      children.begin(), children.end(),
      [](const ChildProcess& child) { return child.state == 'Z'; });
}

// A call that needs the processes.
absl::Status CallWithGrammar(const ServerProcess& server) {
  Client client(server.client_options());
  v1::GenerateRequest request = Exactly({"Hello."}, 4);
  request.mutable_params()->mutable_constraint()->set_regex("[a-z ]{1,9}");
  request.mutable_params()->clear_min_new_tokens();
  return client.Generate(request).status();
}

TEST(ChildrenTest, OneThatIsKilledIsReapedAndReplaced) {
  ServerProcess server;
  const pid_t pid = server.process().pid();
  for (int i = 0; i < 2; ++i) {
    const std::vector<ChildProcess> children = ChildrenOf(pid);
    ASSERT_EQ(children.size(), 1u);
    kill(children[0].pid, SIGKILL);
    EXPECT_TRUE(Eventually([&] { return ChildrenOf(pid).empty(); }));
    EXPECT_EQ(CallWithGrammar(server), absl::OkStatus());
    EXPECT_FALSE(HasZombie(pid));
  }
  EXPECT_EQ(server.Stop(), 0);
}

class ProcessOneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "LeakSanitizer reads /proc by its own id";
    if (RunShell("unshare --pid --fork true").exit_code != 0) {
      GTEST_SKIP() << "only root may make a namespace of processes";
    }
  }

  // The server's process as this test sees it, once it is that program.
  static pid_t ServerOf(const Process& unshare) {
    pid_t pid = -1;
    EXPECT_TRUE(Eventually([&] {
      const std::vector<ChildProcess> children = ChildrenOf(unshare.pid());
      if (children.empty()) return false;
      pid = children[0].pid;
      std::error_code error;
      const fs::path program =
          fs::read_symlink(absl::StrCat("/proc/", pid, "/exe"), error);
      return absl::StartsWith(program.filename().string(), "attend-server");
    }));
    return pid;
  }

  const std::vector<std::string> command_ = {"/usr/bin/unshare",
                                             "--pid",
                                             "--fork",
                                             "--kill-child",
                                             ATTEND_SERVER,
                                             "--host=127.0.0.1",
                                             "--port=0",
                                             "--http-port=0",
                                             "--kv-cache-bytes=16MiB",
                                             "--model=" + BundledModel()};
};

// The kernel discards signals for process 1 that it has not asked for. The
// program blocks them before the loader maps its libraries.
TEST_F(ProcessOneTest, IsStoppedAsSoonAsItHasBlockedSignals) {
  for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
    Process unshare(command_);
    const pid_t server = ServerOf(unshare);
    EXPECT_TRUE(Eventually([&] {
      std::ifstream status(absl::StrCat("/proc/", server, "/status"));
      std::string line;
      while (std::getline(status, line) && line.find("SigBlk:") != 0) {
      }
      return line.size() > 7 &&
             (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1);
    }));
    kill(server, number);
    EXPECT_EQ(unshare.Wait(), 0) << unshare.output();
    EXPECT_EQ(unshare.output().find("event=ready"), std::string::npos);
  }
}

TEST_F(ProcessOneTest, ReapsOrphans) {
  Process unshare(command_);
  const pid_t server = ServerOf(unshare);
  ASSERT_TRUE(unshare.WaitForOutput("event=ready")) << unshare.output();
  const std::vector<ChildProcess> starter = ChildrenOf(server);
  ASSERT_EQ(starter.size(), 1u);
  std::vector<ChildProcess> orphans;
  EXPECT_TRUE(Eventually([&] {
    orphans = ChildrenOf(starter[0].pid);
    return orphans.size() == 2;
  }));
  kill(starter[0].pid, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(server).size() == 2; }));
  for (const ChildProcess& orphan : orphans) kill(orphan.pid, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(server).empty(); }));
  kill(server, SIGTERM);
  EXPECT_EQ(unshare.Wait(), 0) << unshare.output();
}

}  // namespace
}  // namespace attend
