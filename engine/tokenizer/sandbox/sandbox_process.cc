#include "engine/tokenizer/sandbox/sandbox_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "engine/tokenizer/rust/rust_call.h"
#include "engine/tokenizer/sandbox/control_socket.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "engine/tokenizer/sandbox/sandbox_job.h"

#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace attend {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
// Sanitizers keep freed memory, and are slow.
constexpr size_t kMemory = 16 * kSandboxMemory;
constexpr int kSlower = 5;
#else
constexpr size_t kMemory = kSandboxMemory;
constexpr int kSlower = 1;
#endif
// The stack of the thread that does a job, for macros in macros, values in
// values and rules in rules.
constexpr size_t kStackBytes = 8 << 20;
constexpr auto kLook = std::chrono::milliseconds(10);

bool ReadAll(int fd, void* to, size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = recv(fd, bytes, size, 0);
    if (got <= 0) return false;
    bytes += got;
    size -= got;
  }
  return true;
}

void WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(sent);
  }
}

void Answer(int fd, absl::string_view text, char kind) {
  WriteAll(fd, text);
  WriteAll(fd, absl::string_view(&kind, 1));
}

// Reads a job. False: the sender of the job has gone.
bool ReadJob(int fd, ReceivedJob& job) {
  if (!ReadAll(fd, &job.header, sizeof(job.header))) return false;
  job.source.resize(job.header.source_bytes);
  job.variables.resize(job.header.variables_bytes);
  return ReadAll(fd, job.source.data(), job.source.size()) &&
         ReadAll(fd, job.variables.data(), job.variables.size());
}

// For a handler that runs when the thread's own stack is full. There is one
// such thread. AddressSanitizer has a stack of its own, and would unmap
// this one at the thread's end.
void UseOtherStack() {
#if !defined(__SANITIZE_ADDRESS__)
  static char stack[16 << 10];
  const stack_t other = {
      .ss_sp = stack, .ss_flags = 0, .ss_size = sizeof(stack)};
  sigaltstack(&other, nullptr);
#endif
}

// One job, on a thread of its own, so that another can look at the time.
class RunningJob {
 public:
  // `job` and `worker` must outlive the running job.
  RunningJob(const ReceivedJob& job, SandboxWorker& worker)
      : thread_([this, &job, &worker] {
          UseOtherStack();
          good_ = worker.Do(job, call_);
          MutexLock lock(mutex_);
          done_ = true;
          changed_.notify_one();
        }) {}

  // Waits for the end of the job. False: `time` has passed first.
  bool Await(std::chrono::milliseconds time) {
    MutexLock lock(mutex_);
    return changed_.wait_for(
        lock, time,
        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return done_; });
  }
  void AnswerTo(int fd) {
    thread_.join();
    if (call_.out_of_memory) _exit(1);  // as where the library has no memory
    Answer(fd, good_ ? call_.result : call_.error, good_ ? kDone : kFailed);
  }

 private:
  RustCall<std::string> call_;
  bool good_ = false;
  Mutex mutex_;
  std::condition_variable changed_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: uses the others
};

absl::Duration CpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

// Whether the other end of `fd` is closed.
bool IsLeft(int fd) {
  pollfd looked = {fd, POLLRDHUP, 0};
  return poll(&looked, 1, 0) > 0 && (looked.revents & (POLLRDHUP | POLLHUP));
}

// Of the job that is done, for the last words of the process; -1: none.
std::atomic<int> job_socket{-1};

// What needs memory and gets none aborts, and a stack that is full is a fault.
// Async-signal-safe.
void SayNoMemory() {
  send(job_socket, &kNoMemory, 1, MSG_NOSIGNAL);
  _exit(1);
}

void SayLastWords() {
#if defined(__SANITIZE_ADDRESS__) || defined(ATTEND_THREAD_SANITIZER)
  __sanitizer_set_death_callback(SayNoMemory);
#else
  struct sigaction action = {};
  action.sa_handler = [](int) { SayNoMemory(); };
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS}) {
    sigaction(number, &action, nullptr);
  }
#endif
}

// Ends the process while a job runs. Not by _exit(), in which ThreadSanitizer
// waits for other threads.
[[noreturn]] void EndWithJob() {
  while (true) kill(getpid(), SIGKILL);
}

// A job cannot be ended but with its process.
void Serve(int fd, SandboxWorker& worker) {
  ReceivedJob job;
  if (!ReadJob(fd, job)) return;
  const absl::Duration begin = CpuTime();
  RunningJob running(job, worker);
  while (!running.Await(kLook)) {
    if (IsLeft(fd)) EndWithJob();
    if (CpuTime() - begin < kSlower * kSandboxTime) continue;
    Answer(fd, "", kTooLong);
    EndWithJob();
  }
  running.AnswerTo(fd);
}

// Pages of data and stack that the process has; 0: /proc does not say.
unsigned long DataPages() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  if (std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages;
}

// Limits the memory that the process may take beyond what it has. A lower limit
// stays.
void LimitMemory() {
  rlimit data = {};
  if (getrlimit(RLIMIT_DATA, &data) != 0) _exit(1);
  const rlim_t most = DataPages() * sysconf(_SC_PAGESIZE) + kMemory;
  data.rlim_cur = data.rlim_max = std::min(data.rlim_max, most);
  const rlimit no_core = {0, 0};
  if (setrlimit(RLIMIT_DATA, &data) != 0) _exit(1);
  setrlimit(RLIMIT_CORE, &no_core);
}

[[noreturn]] void RunOne(int control) {
  mallopt(M_ARENA_MAX, 1);  // each would have memory of its own
  pthread_attr_t threads;
  pthread_attr_init(&threads);
  pthread_attr_setstacksize(&threads, kStackBytes);
  pthread_setattr_default_np(&threads);
  LimitMemory();
  SayLastWords();
  SandboxWorker worker;
  while (true) {
    const int fd = ReceiveSocket(control);
    if (fd < 0) _exit(0);
    job_socket = fd;
    Serve(fd, worker);
    job_socket = -1;
    close(fd);
  }
}

// Gives up everything of the process that it was forked from: files, terminal,
// and the group that signals of the terminal go to.
void Detach(int& control) {
  setpgid(0, 0);
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  control = dup2(control, 3);
  close_range(4, ~0u, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would hide ends from wait()
  prctl(PR_SET_NAME, "attend-sandbox");
}

}  // namespace

void RunSandbox(int control) {
  Detach(control);
  int running = 0;
  while (true) {
    for (; running < Sandbox::kProcesses; ++running) {
      const pid_t child = fork();
      if (child == 0) RunOne(control);
      if (child < 0) break;
    }
    int status = 0;
    const pid_t child = running > 0 ? waitpid(-1, &status, WUNTRACED) : -1;
    if (child > 0 && WIFSTOPPED(status)) {
      kill(child, SIGKILL);  // else its job would never end
      continue;
    }
    if (child > 0) {
      --running;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) _exit(0);
    }
    // Processes may die before they notice that the other end of `control` is
    // closed.
    if (IsLeft(control)) _exit(0);
    usleep(10'000);  // whatever kills them, it shall not take a CPU
  }
}

}  // namespace attend
