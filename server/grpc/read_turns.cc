#include "server/grpc/read_turns.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "engine/tensor/mutex.h"
#include "server/grpc/original.h"

#ifdef ATTEND_THREAD_SANITIZER

// It has recvmsg() and epoll_ctl() of its own, by which it follows who waits
// for whom.
namespace attend {
void ReadInTurns() {}
}  // namespace attend

#else

namespace attend {
namespace {

// Where a socket waits for events that are told once.
struct Waiting {
  int epoll = -1;
  epoll_event event = {};
};

class WaitingSockets {
 public:
  void Add(int socket, const Waiting& waiting) {
    MutexLock lock(mutex_);
    sockets_[socket] = waiting;
  }
  void Remove(int socket) {
    MutexLock lock(mutex_);
    sockets_.erase(socket);
  }
  bool Has(int socket) {
    MutexLock lock(mutex_);
    return sockets_.contains(socket);
  }
  // False: it does not wait.
  bool Find(int socket, Waiting& waiting) {
    MutexLock lock(mutex_);
    const auto found = sockets_.find(socket);
    if (found == sockets_.end()) return false;
    waiting = found->second;
    return true;
  }
  static WaitingSockets& OfProcess() {
    static auto* const sockets = new WaitingSockets;  // outlives all threads
    return *sockets;
  }

 private:
  Mutex mutex_;
  // A socket that is closed stays until its number is used again.
  std::unordered_map<int, Waiting> sockets_ ABSL_GUARDED_BY(mutex_);
};

thread_local size_t bytes_of_turn = 0;
// The socket whose bytes ended the last turn; -1: that was told by EAGAIN, too.
thread_local int ended_turn = -1;

int OriginalControl(int epoll, int operation, int socket, epoll_event* event) {
  static auto* const original =
      Original<int(int, int, int, epoll_event*)>("epoll_ctl");
  return original(epoll, operation, socket, event);
}

// A message that takes no more than so many bytes. What is received of it but
// its bytes is in the message that it was made of in the end.
class ShorterMessage {
 public:
  ShorterMessage(msghdr& whole, size_t bytes) : whole_(whole), shorter_(whole) {
    const size_t most = std::min<size_t>(whole.msg_iovlen, kMaxParts);
    size_t parts = 0;
    for (; parts < most && bytes > 0; ++parts) {
      parts_[parts] = whole.msg_iov[parts];
      parts_[parts].iov_len = std::min(parts_[parts].iov_len, bytes);
      bytes -= parts_[parts].iov_len;
    }
    shorter_.msg_iov = parts_;
    shorter_.msg_iovlen = parts;
  }
  ~ShorterMessage() {
    whole_.msg_controllen = shorter_.msg_controllen;
    whole_.msg_flags = shorter_.msg_flags;
  }
  msghdr& message() { return shorter_; }

 private:
  static constexpr size_t kMaxParts = 64;

  msghdr& whole_;
  msghdr shorter_;
  iovec parts_[kMaxParts];
};

// Has the system tell again that the socket has something, if it has.
bool TellAgain(int socket) {
  Waiting waiting;
  return WaitingSockets::OfProcess().Find(socket, waiting) &&
         OriginalControl(waiting.epoll, EPOLL_CTL_MOD, socket,
                         &waiting.event) == 0;
}

// Ends the turn when it has had its bytes: `message`, which says how many are
// still there, says none.
void EndTurn(int socket, msghdr& message) {
  if (bytes_of_turn < kTurnBytes) return;
  bytes_of_turn = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_TCP || part->cmsg_type != TCP_CM_INQ) continue;
    const int none = 0;
    if (TellAgain(socket)) memcpy(CMSG_DATA(part), &none, sizeof(none));
  }
  ended_turn = socket;
}

}  // namespace

void ReadInTurns() {}

}  // namespace attend

extern "C" {

int epoll_ctl(int epoll, int operation, int socket,
              epoll_event* event) noexcept {
  attend::WaitingSockets& waiting = attend::WaitingSockets::OfProcess();
  if (operation == EPOLL_CTL_ADD || operation == EPOLL_CTL_DEL) {
    waiting.Remove(socket);
  }
  // First, since from then on other threads read from it.
  if (operation == EPOLL_CTL_ADD && (event->events & EPOLLET) != 0) {
    waiting.Add(socket, {epoll, *event});
  }
  return attend::OriginalControl(epoll, operation, socket, event);
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
  static auto* const original =
      attend::Original<ssize_t(int, msghdr*, int)>("recvmsg");
  // Of a socket that is read in turns one asks how many bytes are left.
  if (message->msg_control == nullptr || (flags & MSG_ERRQUEUE) != 0 ||
      !attend::WaitingSockets::OfProcess().Has(socket)) {
    return original(socket, message, flags);
  }
  // Whoever does not look how many bytes are there learns it so.
  if (std::exchange(attend::ended_turn, -1) == socket &&
      attend::TellAgain(socket)) {
    errno = EAGAIN;
    return -1;
  }
  // gRPC offers as much memory as it has read before in one go.
  attend::ShorterMessage shorter(*message,
                                 attend::kTurnBytes - attend::bytes_of_turn);
  const ssize_t received = original(socket, &shorter.message(), flags);
  if (received > 0) {
    attend::bytes_of_turn += received;
    attend::EndTurn(socket, shorter.message());
  }
  return received;
}

}  // extern "C"

#endif  // ATTEND_THREAD_SANITIZER
