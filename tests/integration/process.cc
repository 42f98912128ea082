#include "tests/integration/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/tensor/check.h"

namespace attend {

Process::Process(const std::vector<std::string>& command, int descriptor) {
  int ends[2];
  ATTEND_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  pid_ = fork();
  ATTEND_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], descriptor);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  reader_ = std::thread([this, end = ends[0]] { Read(end); });
}

Process::~Process() {
  if (!waited_) {
    Signal(SIGKILL);
    Wait();
  }
}

void Process::Signal(int number) const { kill(pid_, number); }

int Process::Wait() {
  if (!waited_) {
    ATTEND_CHECK(waitpid(pid_, &status_, 0) == pid_);
    waited_ = true;
    reader_.join();
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

bool Process::WaitForOutput(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto found = [&] { return output_.find(text) != std::string::npos; };
  changed_.wait(lock, [&] { return ended_ || found(); });
  return found();
}

std::string Process::output() const {
  std::lock_guard lock(mutex_);
  return output_;
}

void Process::Read(int descriptor) {
  char buffer[4096];
  ssize_t count;
  while ((count = read(descriptor, buffer, sizeof(buffer))) > 0) {
    std::lock_guard lock(mutex_);
    output_.append(buffer, count);
    changed_.notify_all();
  }
  close(descriptor);
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

Outcome RunShell(const std::string& command, const std::string& input) {
  std::string name = ::testing::TempDir() + "attend_XXXXXX";
  const std::filesystem::path directory = mkdtemp(name.data());
  const auto read = [&](const char* file) {
    std::stringstream text;
    text << std::ifstream(directory / file).rdbuf();
    return text.str();
  };
  std::ofstream(directory / "in", std::ios::binary) << input;
  const int status = std::system(
      ("cd " + directory.string() + " && { " + command + "; } <in >out 2>err")
          .c_str());
  Outcome outcome = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"),
                     read("err")};
  std::filesystem::remove_all(directory);
  return outcome;
}

}  // namespace attend
