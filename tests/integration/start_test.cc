// Starts that cannot succeed: one clear line, an exit code, nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class StartTest : public ::testing::Test {
 protected:
  StartTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~StartTest() override { fs::remove_all(directory_); }

  // The last line that attend-server wrote. Fails the test if it started.
  std::string Fail(const std::vector<std::string>& flags) {
    std::vector<std::string> command = {
        ATTEND_SERVER, "--port=0", "--http-port=0", "--kv-cache-bytes=16MiB"};
    if (!NamesModels(flags)) command.push_back("--model=" + BundledModel());
    command.insert(command.end(), flags.begin(), flags.end());
    Process server(command);
    if (server.WaitForOutput("event=ready")) {
      ADD_FAILURE() << "it started";
      return "";
    }
    const int code = server.Wait();
    EXPECT_THAT(code, ::testing::AnyOf(1, 2)) << server.output();
    std::string log = server.output();
    EXPECT_EQ(log.back(), '\n');
    log.pop_back();
    EXPECT_EQ(log.find("level=error"), log.rfind("level=error")) << log;
    return log.substr(log.rfind('\n') + 1);
  }

  // Starts it after such a command of the shell. Either it is ready, and ends
  // in good order, or the last line is its error, which is returned.
  std::string StartUnder(const std::string& command,
                         const std::string& runner = "") {
    const std::string server =
        absl::StrCat(command, "; exec ", runner,
                     " " ATTEND_SERVER
                     " --port=0 --http-port=0 --kv-cache-bytes=16MiB --model=",
                     BundledModel());
    Process process({"/bin/bash", "-c", server});
    const bool ready = process.WaitForOutput("event=ready");
    if (ready) process.Signal(SIGTERM);
    const int code = process.Wait();
    const std::string log = process.output();
    if (ready) {
      EXPECT_EQ(code, 0) << command << ": " << log;
      return "";
    }
    const std::string line = log.substr(log.rfind('\n', log.size() - 2) + 1);
    if (code == 126) {  // of the program before the server's
      EXPECT_THAT(line, HasSubstr("temporarily unavailable")) << command;
      return line;
    }
    if (code == 127) {  // the loader's
      EXPECT_THAT(line, HasSubstr("shared object")) << command;
      return line;
    }
    EXPECT_EQ(code, 1) << command << ": " << log;
    EXPECT_THAT(line, HasSubstr("event=failed")) << command;
    return line;
  }

  // The bundled model in a directory of its own, to be spoilt.
  std::string Copy() {
    const fs::path copy = directory_ / "model";
    fs::create_directory(copy);
    for (const auto& entry : fs::directory_iterator(BundledModel())) {
      fs::create_symlink(entry.path(), copy / entry.path().filename());
    }
    return copy.string();
  }
  void Replace(const std::string& copy, const std::string& file,
               const std::string& text) {
    fs::remove(fs::path(copy) / file);
    std::ofstream(fs::path(copy) / file) << text;
  }

  fs::path directory_;
};

TEST_F(StartTest, UnknownFlagsAndBadValues) {
  EXPECT_THAT(Fail({"--no-such-flag=1"}), HasSubstr("no-such-flag"));
  EXPECT_THAT(Fail({"--threads=many"}), HasSubstr("--threads"));
  EXPECT_THAT(Fail({"--max-running=0"}), HasSubstr("max_running"));
  EXPECT_THAT(Fail({"--port=70000"}), HasSubstr("70000"));
  EXPECT_THAT(Fail({"--kv-cache-bytes=1"}), HasSubstr("kv_cache_bytes"));
  EXPECT_THAT(Fail({"--port"}), HasSubstr("--port: 1 required VALUE missing"));
}

TEST_F(StartTest, ModelDirectoryThatIsNotThere) {
  EXPECT_THAT(Fail({"--model=/no/such/model"}), HasSubstr("/no/such/model"));
}

TEST_F(StartTest, OnlyFlaxWeights) {
  const std::string line =
      Fail({"--model=" ATTEND_SOURCE_DIR "/tests/golden/marian/flax-only"});
  EXPECT_THAT(line, HasSubstr("flax_model.msgpack"));
  EXPECT_THAT(line, HasSubstr("transformers 4 reads it"));  // what to do
}

TEST_F(StartTest, BrokenFilesOfTheModel) {
  const std::string model = Copy();
  Replace(model, "config.json", "{\"model_type\": \"marian\", ");
  EXPECT_THAT(Fail({"--model=" + model}), HasSubstr("config.json"));
  Replace(model, "config.json", "{\"model_type\": \"none\"}");
  EXPECT_THAT(Fail({"--model=" + model}), HasSubstr("none"));
  fs::remove(fs::path(model) / "config.json");
  fs::create_symlink(BundledModel() + "/config.json",
                     fs::path(model) / "config.json");
  Replace(model, "model.safetensors", std::string(100, '\xff'));
  EXPECT_THAT(Fail({"--model=" + model}), HasSubstr("model.safetensors"));
}

TEST_F(StartTest, PortThatIsTaken) {
  const std::string& address = SharedServer().address();
  const std::string port = address.substr(address.find(':') + 1);
  EXPECT_THAT(Fail({"--host=127.0.0.1", "--port=" + port}), HasSubstr(port));
}

TEST_F(StartTest, MoreMemoryThanThereIs) {
  EXPECT_THAT(Fail({"--kv-cache-bytes=900GiB"}),
              AllOf(HasSubstr("event=failed"),
                    HasSubstr("the KV cache (kv_cache_bytes) of 900.0 GiB"),
                    HasSubstr("that this process may use (")));
  Process several({ATTEND_SERVER, "--port=0", "--http-port=0",
                   "--kv-cache-bytes=900GiB", "--model=a=" + BundledModel(),
                   "--model=b=" + BundledModel()});
  EXPECT_EQ(several.Wait(), 1);
  EXPECT_THAT(several.output(), AllOf(HasSubstr("event=model_failed model=b"),
                                      HasSubstr("none of the 2 models")));
}

// The ids of processes that render and have outlived their server.
std::set<std::string> LeftRenderers() {
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);  // "123 (attend-sandbox) S 1 ..."
    if (absl::StrContains(stat, "(attend-sandbox) S 1 ") ||
        absl::StrContains(stat, "(attend-sandbox) R 1 ")) {
      left.insert(entry.path().filename());
    }
  }
  return left;
}

// Below some size the loader cannot even map the libraries, and says so.
TEST_F(StartTest, LimitsOfTheSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes more than these limits";
  // ThreadSanitizer may have left some of its tests' behind.
  const std::set<std::string> before = LeftRenderers();
  for (int megabytes : {60, 100, 150, 200, 250, 300, 400, 500, 700, 1000, 1300,
                        1600, 2000, 3000}) {
    StartUnder(absl::StrCat("ulimit -v ", megabytes * 1000));
  }
  // At some 18 MB memory ends while descriptors are made, inside pthread_once.
  for (int kilobytes = 17'500; kilobytes <= 20'000; kilobytes += 250) {
    StartUnder(absl::StrCat("ulimit -d ", kilobytes));
  }
  for (int megabytes : {100, 300}) {
    StartUnder(absl::StrCat("ulimit -d ", megabytes * 1000));
  }
  for (int descriptors : {3, 5, 8, 20, 63, 64}) {
    StartUnder(absl::StrCat("ulimit -n ", descriptors));
  }
  EXPECT_TRUE(Eventually([&] {
    const std::set<std::string> left = LeftRenderers();
    return std::includes(before.begin(), before.end(), left.begin(),
                         left.end());
  }));
  EXPECT_EQ(StartUnder("ulimit -l 0"), "");
  EXPECT_THAT(StartUnder("ulimit -n 20"), HasSubstr("open files is 20"));
  EXPECT_THAT(StartUnder("ulimit -v 400000"), HasSubstr("event=failed"));
}

// Root may do both.
TEST_F(StartTest, AsAUserWithoutRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may become somebody else";
  const std::string runner = "setpriv --reuid=65533 --clear-groups";
  if (!kSanitized) {  // LeakSanitizer needs a process of its own
    std::vector<std::string> lines;
    for (int processes : {1, 2, 3, 4, 5, 8, 20, 30, 60}) {
      lines.push_back(
          StartUnder(absl::StrCat("ulimit -u ", processes), runner));
    }
    EXPECT_THAT(lines, Contains(HasSubstr("ulimit -u")));
  }
  const std::string model = Copy();
  // The user may still be in root's group.
  fs::permissions(directory_, fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
  Replace(model, "config.json", "{}");
  fs::permissions(fs::path(model) / "config.json", fs::perms::none);
  Process server({"/usr/bin/setpriv", "--reuid=65533", "--clear-groups",
                  ATTEND_SERVER, "--port=0", "--http-port=0",
                  "--model=" + model});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_THAT(server.output(),
              HasSubstr("config.json: cannot be read: Permission denied"));
}

// What stands where a file should be.
TEST_F(StartTest, FilesThatAreNone) {
  const std::string directory = (directory_ / "directory").string();
  const std::string empty = (directory_ / "empty").string();
  const std::string huge = (directory_ / "huge").string();
  fs::create_directory(directory);
  std::ofstream(empty).close();
  std::ofstream(huge).close();
  fs::resize_file(huge, uintmax_t{1} << 40);
  const std::string model = Copy();
  std::vector<std::string> all_bad = {directory, huge};
  if (!kSanitized) {
    all_bad.insert(all_bad.end(),
                   {empty, "/dev/zero", (directory_ / "none").string()});
  }
  for (const std::string& bad : all_bad) {
    for (const std::string option : {"--config=", "--tls-key=k --tls-cert="}) {
      if (option == "--config=" && bad == empty) continue;  // sets nothing
      std::vector<std::string> flags = absl::StrSplit(option + bad, ' ');
      EXPECT_NE(Fail(flags), "") << option << bad;
    }
    if (bad != directory) {
      EXPECT_THAT(Fail({"--model=" + bad}), HasSubstr(bad));
      EXPECT_THAT(Fail({"--models-dir=" + bad}), HasSubstr(bad));
    }
    for (const auto& entry : fs::directory_iterator(BundledModel())) {
      const std::string file = entry.path().filename().string();
      const bool optional =
          file == "generation_config.json" || file == "tokenizer_config.json";
      if (file == "README.md" || (optional && !fs::exists(bad))) continue;
      fs::remove(fs::path(model) / file);
      fs::create_symlink(bad, fs::path(model) / file);
      EXPECT_THAT(Fail({"--model=" + model}), HasSubstr(file)) << bad;
      fs::remove(fs::path(model) / file);
      fs::create_symlink(entry.path(), fs::path(model) / file);
    }
  }
}

// Whether the process takes SIGTERM itself instead of being ended by it. While
// the C library starts a thread, it blocks all signals, SIGSEGV among them.
bool BlocksSigterm(const Process& process) {
  std::ifstream status(absl::StrCat("/proc/", process.pid(), "/status"));
  std::string line;
  while (std::getline(status, line)) {
    if (!absl::StartsWith(line, "SigBlk:")) continue;
    const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
    const auto blocks = [blocked](int signal) {
      return (blocked >> (signal - 1) & 1) != 0;
    };
    return blocks(SIGTERM) && !blocks(SIGSEGV);
  }
  return false;
}

// Their numbers must not go to sockets, which would be sent the log.
TEST_F(StartTest, ClosedStandardDescriptors) {
  Process server({"/bin/sh", "-c",
                  absl::StrCat("exec " ATTEND_SERVER
                               " --port=0 --http-port=0 --kv-cache-bytes=16MiB "
                               "--model=",
                               BundledModel(), " 0<&- 1>&- 2>&-")});
  const fs::path descriptors = absl::StrCat("/proc/", server.pid(), "/fd");
  const auto target = [&](const fs::path& descriptor) {
    std::error_code gone;
    return fs::read_symlink(descriptor, gone).string();
  };
  EXPECT_TRUE(Eventually([&] {
    int sockets = 0;
    for (const auto& entry : fs::directory_iterator(descriptors)) {
      if (absl::StartsWith(target(entry.path()), "socket:")) ++sockets;
    }
    return sockets >= 2 && target(descriptors / "0") == "/dev/null" &&
           target(descriptors / "1") == "/dev/null" &&
           target(descriptors / "2") == "/dev/null" && BlocksSigterm(server);
  }));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(StartTest, AModelWithoutTokenizerIsSaidToTakeNoText) {
  Process server({ATTEND_SERVER, "--port=0", "--http-port=0",
                  "--kv-cache-bytes=16MiB", "--log-format=json",
                  "--model=" ATTEND_SOURCE_DIR
                  "/tests/golden/families/t5-few-buckets"});
  ASSERT_TRUE(server.WaitForOutput(R"("event":"ready")")) << server.output();
  EXPECT_THAT(server.output(),
              HasSubstr(R"("level":"warning","event":"no_text",)"
                        R"("model":"t5-few-buckets")"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

TEST_F(StartTest, AChatTemplateOfNoUseIsWarnedOf) {
  const fs::path model = fs::path(directory_) / "m";
  fs::copy(ATTEND_SOURCE_DIR "/tests/golden/families/llama-llama3-rope", model,
           fs::copy_options::recursive);
  std::ofstream(model / "chat_template.jinja") << "{% if %}";
  Process server({ATTEND_SERVER, "--port=0", "--http-port=0",
                  "--kv-cache-bytes=16MiB", "--log-format=json",
                  "--model=" + model.string()});
  ASSERT_TRUE(server.WaitForOutput(R"("event":"ready")")) << server.output();
  EXPECT_THAT(server.output(),
              HasSubstr(R"("level":"warning","event":"no_chats","model":"m",)"
                        R"("warning":"chat_template.jinja: line 1:)"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

TEST_F(StartTest, ADraftModelDraftsAndChangesNothing) {
  ServerProcess server({"--draft=" + BundledModel(), "--prompt-lookup=false"});
  EXPECT_THAT(server.process().output(), HasSubstr("event=draft_loaded"));
  Client client(server.client_options());
  Client without(SharedServer().client_options());
  const v1::GenerateRequest request = Exactly({"Hello."}, 200);
  const auto drafted = client.Generate(request);
  const auto plain = without.Generate(request);
  ASSERT_TRUE(drafted.ok() && plain.ok()) << drafted.status() << plain.status();
  EXPECT_THAT(drafted->results(0).choices(0).ids(),
              ::testing::ElementsAreArray(plain->results(0).choices(0).ids()));
  EXPECT_GT(server.Metric("attend_model_draft_tokens_total{model=\"en-de\"}"),
            0);
}

TEST_F(StartTest, OptionsFromTheEnvironment) {
  const std::string line = RunShell("ATTEND_THREADS=many " ATTEND_SERVER).err;
  EXPECT_THAT(line, HasSubstr("ATTEND_THREADS"));
  // Kubernetes sets such variables next to a service named "attend".
  Process server({"/usr/bin/env", "ATTEND_PORT=tcp://10.0.0.1:50051",
                  "ATTEND_SERVICE_HOST=10.0.0.1", "ATTEND_TREADS=2",
                  ATTEND_SERVER, "--port=0", "--http-port=0",
                  "--kv-cache-bytes=16MiB", "--model=" + BundledModel()});
  ASSERT_TRUE(server.WaitForOutput("event=ready")) << server.output();
  EXPECT_THAT(server.output(),
              AllOf(HasSubstr("event=variable_ignored warning=\"ATTEND_PORT is "
                              "'tcp://10.0.0.1:50051'"),
                    HasSubstr("did you mean ATTEND_THREADS?"),
                    Not(HasSubstr("ATTEND_SERVICE_HOST"))));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

// Grammars and templates are compiled by recursion.
TEST_F(StartTest, ASmallLimitOfTheStackIsNoLimitOfThreads) {
  for (const int kilobytes : {64, 256}) {
    Process server({"/bin/bash", "-c",
                    absl::StrCat("ulimit -s ", kilobytes,
                                 "; exec " ATTEND_SERVER
                                 " --host=127.0.0.1 --port=0 --http-port=0 "
                                 "--kv-cache-bytes=16MiB --model=",
                                 BundledModel())});
    ASSERT_TRUE(server.WaitForOutput("isa=")) << server.output();
    const std::string log = server.output();
    const std::string port = log.substr(log.find("grpc_port=") + 10, 5);
    const Outcome call =
        RunShell(absl::StrCat(ATTEND_CLI " generate --address 127.0.0.1:", port,
                              " --regex '[a-z ]{1,9}' Hello."));
    EXPECT_EQ(call.exit_code, 0) << call.err;
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0) << server.output();
  }
}

TEST_F(StartTest, HelpAndVersion) {
  EXPECT_THAT(RunShell(ATTEND_SERVER " --help").out,
              HasSubstr("--max-running"));
  EXPECT_THAT(RunShell(ATTEND_SERVER " --version").out,
              HasSubstr("attend-server 0."));
}

}  // namespace
}  // namespace attend
