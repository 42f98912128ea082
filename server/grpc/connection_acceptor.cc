#include "server/grpc/connection_acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

// Who has gone is looked for so often; at a limit more often.
constexpr absl::Duration kSweepInterval = absl::Seconds(1);
constexpr absl::Duration kSweepIntervalAtLimit = absl::Milliseconds(50);
// Where nothing can be accepted, until the next try.
constexpr absl::Duration kPause = absl::Milliseconds(100);
// Of one listening socket before the others have their turn.
constexpr int kAcceptedInARow = 64;

Descriptor NewSpare() {
  return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool IsSameSocket(int descriptor, uint64_t inode) {
  struct stat found;
  return fstat(descriptor, &found) == 0 && S_ISSOCK(found.st_mode) &&
         found.st_ino == inode;
}

// What limits for an address count together: a client of IPv6 has at least 64
// bits to choose from.
std::string AddressKey(const sockaddr_storage& peer) {
  if (peer.ss_family != AF_INET6) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return {reinterpret_cast<const char*>(&v4), 4};
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  const char* bytes = reinterpret_cast<const char*>(&v6);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return {bytes + 12, 4};
  return {bytes, 8};
}

bool IsOutOfDescriptors(int error) {
  return error == EMFILE || error == ENFILE;
}

// Memory of the kernel, as descriptors, may come back. A socket that somebody
// else has, too, may have been shut down there: EINVAL; then the others wait a
// little, too. The other errors of accept() are of that connection, which is
// gone.
bool CannotAccept(int error) {
  return error == ENOBUFS || error == ENOMEM || error == EINVAL;
}

}  // namespace

ConnectionAcceptor::ConnectionAcceptor(std::vector<Descriptor> sockets,
                                       ConnectionLimits limits,
                                       ConnectionMetrics& metrics,
                                       Handler handler, Ended ended)
    : sockets_(std::move(sockets)),
      metrics_(metrics),
      handler_(std::move(handler)),
      ended_(std::move(ended)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      table_(limits),
      spare_(NewSpare()) {
  thread_ = std::thread([this] { RunThread(); });
}

ConnectionAcceptor::~ConnectionAcceptor() {
  ATTEND_CHECK(eventfd_write(stop_.get(), 1) == 0);
  thread_.join();
  metrics_.SetOpen(0);
}

void ConnectionAcceptor::RunThread() {
  std::vector<pollfd> events = {{stop_.get(), POLLIN, 0}};
  for (const Descriptor& socket : sockets_) {
    events.push_back({socket.get(), POLLIN, 0});
  }
  while (true) {
    // While paused, connections that wait must not wake the thread.
    const size_t watched = paused_ ? 1 : events.size();
    for (pollfd& event : events) event.revents = 0;
    poll(events.data(), watched, TimeoutMillis());
    if (events[0].revents != 0) return;
    paused_ = false;
    for (size_t i = 1; i < watched; ++i) {
      if (events[i].revents != 0) AcceptAll(events[i].fd);
    }
    if (SinceSweep() >= kSweepInterval) Sweep();
    metrics_.SetOpen(table_.size());
  }
}

absl::Duration ConnectionAcceptor::SinceSweep() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - swept_);
}

int ConnectionAcceptor::TimeoutMillis() const {
  if (paused_) return static_cast<int>(absl::ToInt64Milliseconds(kPause));
  if (table_.size() == 0) return -1;
  return static_cast<int>(absl::ToInt64Milliseconds(kSweepInterval));
}

void ConnectionAcceptor::AcceptAll(int listening) {
  for (int i = 0; i < kAcceptedInARow; ++i) {
    if (!AcceptOne(listening)) return;
  }
}

// False: nobody waits any more, or nobody can be let in now.
bool ConnectionAcceptor::AcceptOne(int listening) {
  if (!spare_.ok()) spare_ = NewSpare();
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  Descriptor socket(accept4(listening, reinterpret_cast<sockaddr*>(&peer),
                            &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.ok()) {
    // Without memory for it, it is closed.
    CatchOutOfMemory([&] {
      HandOn(std::move(socket), AddressKey(peer));
      return absl::OkStatus();
    }).IgnoreError();
    return true;
  }
  if (errno == EAGAIN) return false;
  if (IsOutOfDescriptors(errno)) return RefuseWithSpare(listening);
  paused_ = CannotAccept(errno);
  return !paused_;
}

// A connection that waited would wake the thread again and again.
bool ConnectionAcceptor::RefuseWithSpare(int listening) {
  spare_.Close();
  const Descriptor socket(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.ok()) {
    metrics_.OnRefused(ConnectionRefusal::kDescriptors);
    return true;
  }
  paused_ = errno != EAGAIN;
  return false;
}

void ConnectionAcceptor::HandOn(Descriptor socket, const std::string& address) {
  std::optional<ConnectionRefusal> refusal =
      table_.Check(socket.get(), address);
  if (refusal && SinceSweep() >= kSweepIntervalAtLimit) {
    Sweep();
    refusal = table_.Check(socket.get(), address);
  }
  if (refusal) return metrics_.OnRefused(*refusal);
  struct stat opened;
  if (fstat(socket.get(), &opened) != 0) return;
  table_.Add(socket.get(), opened.st_ino, address);
  handler_(socket.Release());
}

void ConnectionAcceptor::Sweep() {
  const int before = table_.size();
  table_.Sweep(&IsSameSocket);
  if (table_.size() < before) ended_(before - table_.size());
  swept_ = std::chrono::steady_clock::now();
}

}  // namespace attend
