// Faults of the machine: each ends a model's load, a call or a line of the log,
// never the server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A copy of the bundled model, to be spoilt.
class FaultsTest : public ::testing::Test {
 protected:
  FaultsTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    fs::copy(BundledModel(), directory_ / "model", fs::copy_options::recursive);
  }
  ~FaultsTest() override { fs::remove_all(directory_); }

  std::string Weights() const {
    return (directory_ / "model" / "model.safetensors").string();
  }

  fs::path directory_;
};

TEST_F(FaultsTest, WeightsThatAreCutWhileTheyLoadAreRefusedAndTheOthersServe) {
  Process process({ATTEND_SERVER, "--port=0", "--http-port=0", "--dtype=f32",
                   "--kv-cache-bytes=16MiB", "--host=127.0.0.1",
                   "--model=cut=" + (directory_ / "model").string(),
                   "--model=well=" + BundledModel()});
  ASSERT_TRUE(process.WaitForOutput("event=loading"));
  // It takes some 100 ms: this is in the midst of it, or before.
  fs::resize_file(Weights(), 5'000'000);
  ASSERT_TRUE(process.WaitForOutput("event=ready")) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("event=model_failed model=cut "));
  EXPECT_THAT(process.output(), HasSubstr("event=loaded model=well "));
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
}

// All of it is in the server's own memory.
TEST_F(FaultsTest, FilesThatGoWhileTheyAreServedChangeNoAnswer) {
  ServerProcess server({"--model=" + (directory_ / "model").string()});
  Client client(server.client_options());
  const v1::GenerateRequest request = Exactly({Sentence(1), Sentence(2)}, 5);
  const auto before = client.Generate(request);
  ASSERT_TRUE(before.ok()) << before.status();
  for (const auto& file : fs::directory_iterator(directory_ / "model")) {
    fs::resize_file(file.path(), 0);
  }
  fs::remove_all(directory_ / "model");
  const auto after = client.Generate(request);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Bits(*after), Bits(*before));
  EXPECT_EQ(server.Stop(), 0);
}

std::string ReadFile(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The value of a field, once the log has it.
std::string FieldOf(const fs::path& log, const std::string& name) {
  EXPECT_TRUE(
      Eventually([&] { return absl::StrContains(ReadFile(log), name + "="); }));
  const std::string text = ReadFile(log);
  const size_t begin = text.find(name + "=") + name.size() + 1;
  return text.substr(begin,
                     text.find_first_not_of("0123456789", begin) - begin);
}

// As on a full disk: the file takes 2 KiB, and no more.
TEST_F(FaultsTest, ALogThatCannotBeWrittenStopsNobody) {
  const fs::path log = directory_ / "log";
  Process process(
      {"/bin/bash", "-c",
       absl::StrCat("ulimit -f 2; exec " ATTEND_SERVER
                    " --host=127.0.0.1 --port=0 --http-port=0 --dtype=f32"
                    " --kv-cache-bytes=16MiB --model=",
                    BundledModel(), " 2>", log.string())});
  ClientOptions options;
  options.address = "127.0.0.1:" + FieldOf(log, "grpc_port");
  Client client(options);
  for (int i = 0; i < 12; ++i) {
    const auto answer = client.Generate(Exactly({Sentence(i)}, 1));
    ASSERT_TRUE(answer.ok()) << answer.status();
  }
  EXPECT_LE(fs::file_size(log), 2048u);
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
}

// Pages that the process has.
uint64_t AddressSpace(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/statm"));
  uint64_t pages = 0;
  file >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// At run time nothing is mapped but for large messages and texts. All threads
// have one heap here: each that has none yet would map one of 64 MiB.
TEST_F(FaultsTest, WithoutMoreAddressSpaceSmallCallsAnswerAsBefore) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer maps memory itself";
  setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1", /*replace=*/1);
  ServerProcess server;
  unsetenv("GLIBC_TUNABLES");
  Client client(server.client_options());
  const v1::GenerateRequest request = Exactly({Sentence(1), Sentence(2)}, 5);
  const auto before = client.Generate(request);
  ASSERT_TRUE(before.ok()) << before.status();
  const pid_t pid = server.process().pid();
  const rlim_t most = AddressSpace(pid) + (4 << 20);  // what the heap grows by
  const rlimit limit = {most, most};
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &limit, nullptr), 0);
  for (int i = 0; i < 3; ++i) {
    const auto after = client.Generate(request);
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(Bits(*after), Bits(*before));
  }
  EXPECT_EQ(server.Get("/livez").code, 200);
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace attend
