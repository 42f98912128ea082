#include "engine/tokenizer/sandbox/control_socket.h"

#include <sys/socket.h>

#include <cstring>

namespace attend {
namespace {

// A message that carries one file descriptor.
struct SocketMessage {
  SocketMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
  SocketMessage(const SocketMessage&) = delete;

  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
};

}  // namespace

bool SendSocket(int control, int socket) {
  SocketMessage message;
  cmsghdr* const with = CMSG_FIRSTHDR(&message.header);
  with->cmsg_level = SOL_SOCKET;
  with->cmsg_type = SCM_RIGHTS;
  with->cmsg_len = CMSG_LEN(sizeof(socket));
  std::memcpy(CMSG_DATA(with), &socket, sizeof(socket));
  return sendmsg(control, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

int ReceiveSocket(int control) {
  SocketMessage message;
  if (recvmsg(control, &message.header, MSG_CMSG_CLOEXEC) <= 0) return -1;
  const cmsghdr* const with = CMSG_FIRSTHDR(&message.header);
  if (with == nullptr || with->cmsg_type != SCM_RIGHTS) return -1;
  int socket;
  std::memcpy(&socket, CMSG_DATA(with), sizeof(socket));
  return socket;
}

}  // namespace attend
