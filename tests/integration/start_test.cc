// Starts that cannot succeed: one clear line, an exit code, nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/server_process.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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
    // One error; gRPC adds lines of its own where it cannot listen.
    EXPECT_EQ(log.find("level=error"), log.rfind("level=error")) << log;
    return log.substr(log.rfind('\n') + 1);
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

TEST_F(StartTest, OnlyTorchWeights) {
  const std::string line =
      Fail({"--model=" ATTEND_SOURCE_DIR "/tests/golden/marian/bin-only"});
  EXPECT_THAT(line, HasSubstr("pytorch_model.bin"));
  EXPECT_THAT(line, HasSubstr("save_pretrained"));  // the command
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

TEST_F(StartTest, OptionsFromTheEnvironment) {
  const std::string line = RunShell("ATTEND_THREADS=many " ATTEND_SERVER).err;
  EXPECT_THAT(line, HasSubstr("ATTEND_THREADS"));
}

TEST_F(StartTest, HelpAndVersion) {
  EXPECT_THAT(RunShell(ATTEND_SERVER " --help").out,
              HasSubstr("--max-running"));
  EXPECT_THAT(RunShell(ATTEND_SERVER " --version").out,
              HasSubstr("attend-server 0."));
}

}  // namespace
}  // namespace attend
