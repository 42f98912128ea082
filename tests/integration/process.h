#ifndef ATTEND_TESTS_INTEGRATION_PROCESS_H_
#define ATTEND_TESTS_INTEGRATION_PROCESS_H_

#include <sys/types.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace attend {

// A child process, one output of which is read as it comes. It does not
// outlive this object, nor the test. Not copyable; Signal() and output() may be
// called from any thread.
class Process {
 public:
  // Runs command[0] with the rest as its arguments. `descriptor`: which of the
  // child's outputs is read; the other one is the test's own.
  explicit Process(const std::vector<std::string>& command,
                   int descriptor = STDERR_FILENO);
  // Kills it if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  // Waits for the end: the exit code, or minus the signal that ended it.
  int Wait();

  // Waits until the output has `text` in it. False: it has ended without.
  bool WaitForOutput(const std::string& text);
  std::string output() const;

 private:
  void Read(int descriptor);

  pid_t pid_ = -1;
  bool waited_ = false;
  int status_ = 0;
  std::thread reader_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string output_;  // guarded by mutex_
  bool ended_ = false;  // guarded by mutex_
};

// What a command of the shell left behind.
struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};
// Runs it in a directory of its own, with `input` as its standard input.
Outcome RunShell(const std::string& command, const std::string& input = "");

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_PROCESS_H_
