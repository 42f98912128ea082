#include "engine/tokenizer/chat/render_processes.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/chat/render_process.h"

namespace attend {
namespace {

// The time between two looks whether the call has ended.
constexpr int kLookMilliseconds = 10;

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
  return absl::InternalError(absl::StrCat("processes that render: ", what, ": ",
                                          std::strerror(errno)));
}

absl::Status TooMuchMemory() {
  return absl::InvalidArgumentError(absl::StrCat(
      "rendering takes more than ", kRenderMemory >> 20, " MiB of memory"));
}

// OK when `fd` is ready for `events`, or its other end has gone.
absl::Status Await(int fd, short events, absl::FunctionRef<bool()> ended) {
  while (true) {
    if (ended()) return absl::CancelledError("cancelled");
    pollfd waited = {fd, events, 0};
    if (poll(&waited, 1, kLookMilliseconds) > 0) return absl::OkStatus();
  }
}

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
      return TooMuchMemory();  // it died while it read
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

}  // namespace

RenderProcesses::RenderProcesses() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) RunRenderProcesses(ends[1]);
  close(ends[1]);
  if (child > 0) {
    control_ = ends[0];
  } else {
    close(ends[0]);
  }
}

RenderProcesses& RenderProcesses::Shared() {
  static auto& processes = *new RenderProcesses;
  return processes;
}

absl::StatusOr<std::string> RenderProcesses::Render(
    const RenderJob& job, absl::FunctionRef<bool()> ended) const {
  if (control_ < 0) {
    return absl::UnavailableError(
        "the system gave no process to render chat templates in");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Broken("socketpair");
  }
  const Socket ours(ends[0]);
  {
    const Socket theirs(ends[1]);
    if (!SendSocket(control_, theirs.fd())) return Broken("sendmsg");
  }
  const RenderHeader header = {job.source.size(), job.variables.size(),
                               job.unix_micros};
  const absl::string_view head(reinterpret_cast<const char*>(&header),
                               sizeof(header));
  for (const absl::string_view part : {head, job.source, job.variables}) {
    RETURN_IF_ERROR(SendAll(ours.fd(), part, ended));
  }
  ASSIGN_OR_RETURN(std::string answer, ReceiveAll(ours.fd(), ended));
  if (answer.empty()) return TooMuchMemory();
  const char kind = answer.back();
  answer.pop_back();
  if (kind == kRendered) return answer;
  if (kind == kFailed) return absl::InvalidArgumentError(answer);
  return TooMuchMemory();  // it died while it wrote
}

}  // namespace attend
