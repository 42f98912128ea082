#include "engine/tokenizer/sandbox/sandbox.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/sandbox/control_socket.h"
#include "engine/tokenizer/sandbox/sandbox_process.h"

namespace attend {
namespace {

// The time between two looks whether the call has ended.
constexpr int kLookMilliseconds = 10;
// What a program is called that was started to do jobs, and where its control
// socket is.
constexpr char kProgram[] = "attend-sandbox";
constexpr int kControl = 3;

// This program can be one that does jobs.
std::atomic<bool> can_start_again{false};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Broken(absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("sandbox: ", what, ": ", std::strerror(errno)));
}

absl::Status NoProcess() {
  return absl::UnavailableError(
      "the system gave no process to render chat templates or to try grammars "
      "in");
}

absl::string_view NameOf(SandboxTask task) {
  return task == SandboxTask::kRenderChat ? "rendering" : "compiling";
}

absl::Status TakesMore(SandboxTask task, absl::string_view limit) {
  return absl::InvalidArgumentError(
      absl::StrCat(NameOf(task), " takes more than ", limit));
}

absl::Status Killed(SandboxTask task) {
  return absl::UnavailableError(
      task == SandboxTask::kRenderChat
          ? "the process that rendered the chat was killed"
          : "the process that tried the grammar was killed");
}

// OK when `fd` is ready for `events`, or its other end has gone.
absl::Status Await(int fd, short events, absl::FunctionRef<bool()> ended) {
  while (true) {
    if (ended()) return absl::CancelledError("cancelled");
    pollfd waited = {fd, events, 0};
    if (poll(&waited, 1, kLookMilliseconds) > 0) return absl::OkStatus();
  }
}

// Also OK if the other side takes no more: it says why.
absl::Status SendAll(int fd, absl::string_view bytes,
                     absl::FunctionRef<bool()> ended) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(sent);
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(Await(fd, POLLOUT, ended));
    } else if (errno != EINTR) {
      break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReceiveAll(int fd,
                                       absl::FunctionRef<bool()> ended) {
  std::string bytes;
  char part[1 << 16];
  while (true) {
    RETURN_IF_ERROR(Await(fd, POLLIN, ended));
    const ssize_t got = recv(fd, part, sizeof(part), MSG_DONTWAIT);
    if (got > 0) {
      bytes.append(part, got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return bytes;
    }
  }
}

// This program anew, with `control`. It has no memory of this process, nor its
// signals. -1: the system gave none.
pid_t StartAgain(int control) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, control, kControl);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char name[sizeof(kProgram)];
  std::memcpy(name, kProgram, sizeof(name));
  char* const arguments[] = {name, nullptr};
  pid_t child = -1;
  if (posix_spawn(&child, "/proc/self/exe", &files, &attributes, arguments,
                  environ) != 0) {
    child = -1;
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return child;
}

}  // namespace

struct Sandbox::Starter {
  // `start` returns the child that has the other end of a control socket, or
  // -1. Null: the system gave none.
  static std::shared_ptr<const Starter> Start(pid_t (*start)(int control)) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      return nullptr;
    }
    const Socket theirs(ends[1]);
    auto starter = std::make_shared<Starter>(ends[0]);
    starter->child = start(theirs.fd());
    return starter->child < 0 ? nullptr : starter;
  }

  explicit Starter(int fd) : control(fd) {}
  // Both by one thread at a time, until the first is true or the second is
  // called. One that is stopped starts no others, so it is ended. ECHILD: the
  // process has ended, and was reaped by a thread that reaps all children of
  // this process.
  bool IsGone() const {
    int status = 0;
    const pid_t changed = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (changed < 0) return errno == ECHILD;
    if (changed == child && WIFSTOPPED(status)) End();
    return changed == child;
  }
  // With the processes that it has started, which are a group of its own.
  void End() const {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);  // which may have no group yet
    waitpid(child, nullptr, 0);
  }

  // See Sandbox::Run(), but without a limit of time.
  absl::StatusOr<std::string> Do(const SandboxJob& job,
                                 absl::FunctionRef<bool()> ended) const;

  const Socket control;
  pid_t child = -1;
};

Sandbox::Sandbox()
    : starter_(Starter::Start([](int control) {
        const pid_t child = fork();
        if (child == 0) RunSandbox(control);
        return child;
      })) {}

Sandbox& Sandbox::Shared() {
  static auto& processes = *new Sandbox;
  return processes;
}

void Sandbox::RunIfStartedForIt(int argc, char** argv) {
  if (argc == 1 && std::strcmp(argv[0], kProgram) == 0) {
    RunSandbox(kControl);
  }
  can_start_again = true;
}

absl::StatusOr<std::shared_ptr<const Sandbox::Starter>> Sandbox::Running() {
  Look();
  MutexLock lock(mutex_);
  if (starter_ == nullptr && can_start_again) {
    starter_ = Starter::Start(&StartAgain);
  }
  if (starter_ == nullptr) return NoProcess();
  return starter_;
}

void Sandbox::Look() {
  MutexLock lock(mutex_);
  if (starter_ != nullptr && starter_->IsGone()) starter_ = nullptr;
}

void Sandbox::Replace(const Starter& starter) {
  MutexLock lock(mutex_);
  if (starter_.get() != &starter || !can_start_again) return;
  starter_->End();
  starter_ = nullptr;
}

absl::StatusOr<std::string> Sandbox::Run(const SandboxJob& job,
                                         absl::FunctionRef<bool()> ended) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Starter> starter, Running());
  const auto end =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(job.wait);
  bool late = false;
  auto result = starter->Do(job, [&] {
    Look();
    late = std::chrono::steady_clock::now() >= end;
    return late || ended();
  });
  if (!late) return result;
  Replace(*starter);
  return absl::UnavailableError(absl::StrCat(
      NameOf(job.task), " has not ended within ",
      absl::FormatDuration(job.wait), ": its process is replaced"));
}

absl::StatusOr<std::string> Sandbox::Starter::Do(
    const SandboxJob& job, absl::FunctionRef<bool()> ended) const {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Broken("socketpair");
  }
  const Socket ours(ends[0]);
  {
    const Socket theirs(ends[1]);
    while (!SendSocket(control.fd(), theirs.fd())) {
      if (errno == EPIPE || errno == ECONNRESET) return Killed(job.task);
      if (errno != EAGAIN) return Broken("sendmsg");
      RETURN_IF_ERROR(Await(control.fd(), POLLOUT, ended));
    }
  }
  const SandboxHeader header = {.task = job.task,
                                .grammar_kind = job.grammar_kind,
                                .source_bytes = job.source.size(),
                                .variables_bytes = job.variables.size(),
                                .unix_micros = job.unix_micros};
  const absl::string_view head(reinterpret_cast<const char*>(&header),
                               sizeof(header));
  for (const absl::string_view part : {head, job.source, job.variables}) {
    RETURN_IF_ERROR(SendAll(ours.fd(), part, ended));
  }
  ASSIGN_OR_RETURN(std::string answer, ReceiveAll(ours.fd(), ended));
  const char kind = answer.empty() ? '\0' : answer.back();
  if (!answer.empty()) answer.pop_back();
  switch (kind) {
    case kDone:
      return answer;
    case kFailed:
      return absl::InvalidArgumentError(answer);
    case kNoMemory:
      return TakesMore(job.task,
                       absl::StrCat(kSandboxMemory >> 20, " MiB of memory"));
    case kTooLong:
      return TakesMore(job.task, absl::FormatDuration(kSandboxTime));
    default:
      return Killed(job.task);
  }
}

}  // namespace attend
