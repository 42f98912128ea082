#ifndef ATTEND_TESTS_CLIENT_CLI_COMMAND_LINE_H_
#define ATTEND_TESTS_CLIENT_CLI_COMMAND_LINE_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/client/fake/fake_service.h"

namespace attend {

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

inline std::string ReadAll(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Runs the `attend` binary as its users do, against a fake server.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~CommandLineTest() override { std::filesystem::remove_all(directory_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }

  // Runs the shell command `attend ARGUMENTS` with the fake's address.
  Outcome Run(const std::string& arguments, const std::string& input = "") {
    return RunAt(service_.address(), arguments, input);
  }

  Outcome RunAt(const std::string& address, const std::string& arguments,
                const std::string& input = "") {
    const std::string in = File("in", input);
    const std::string command =
        "cd " + directory_.string() + " && export ATTEND_ADDRESS=" + address +
        " XDG_CONFIG_HOME=" + directory_.string() + " && { " + ATTEND_BINARY +
        " " + arguments + "; } <in >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            ReadAll(directory_ / "out"), ReadAll(directory_ / "err")};
  }

  FakeService service_;
  std::filesystem::path directory_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_CLI_COMMAND_LINE_H_
