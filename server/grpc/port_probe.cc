#include "server/grpc/port_probe.h"

#include <netinet/in.h>
#include <poll.h>

#include <cerrno>

#include "server/grpc/descriptor.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

bool WaitFor(int socket, short event, absl::Time limit) {
  const absl::Duration left = limit - SteadyNow();
  if (left <= absl::ZeroDuration()) return false;
  pollfd entry = {socket, event, 0};
  return poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) > 0;
}

}  // namespace

PortProbe::PortProbe(const sockaddr_storage& address, PortProbeOptions options)
    : options_(options), address_(address) {
  thread_ = std::thread([this] { RunThread(); });
}

PortProbe::~PortProbe() { Stop(); }

void PortProbe::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool PortProbe::Ask() const {
  const absl::Time limit = SteadyNow() + options_.timeout;
  const Descriptor socket(::socket(
      address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return alive_;  // no descriptor: nothing was learnt
  const socklen_t size = address_.ss_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                        : sizeof(sockaddr_in);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_),
              size) != 0 &&
      errno != EINPROGRESS) {
    return false;
  }
  if (!WaitFor(socket.get(), POLLOUT, limit) ||
      shutdown(socket.get(), SHUT_WR) != 0) {
    return false;
  }
  return WaitFor(socket.get(), POLLIN, limit);
}

void PortProbe::RunThread() {
  int failures = 0;
  while (WaitForNext()) {
    failures = Ask() ? 0 : failures + 1;
    alive_ = failures < options_.failures;
  }
}

bool PortProbe::WaitForNext() {
  MutexLock lock(mutex_);
  return !changed_.wait_for(
      lock, absl::ToChronoNanoseconds(options_.interval),
      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_; });
}

}  // namespace attend
