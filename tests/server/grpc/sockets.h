#ifndef ATTEND_TESTS_SERVER_GRPC_SOCKETS_H_
#define ATTEND_TESTS_SERVER_GRPC_SOCKETS_H_

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "server/grpc/descriptor.h"

namespace attend {

inline sockaddr_storage Loopback(int port) {
  sockaddr_storage address = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline bool ConnectTo(const Descriptor& socket, int port) {
  const sockaddr_storage address = Loopback(port);
  // libFuzzer's timer interrupts it.
  return TEMP_FAILURE_RETRY(connect(socket.get(),
                                    reinterpret_cast<const sockaddr*>(&address),
                                    sizeof(sockaddr_in))) == 0;
}

// A connection to a port of 127.0.0.1; none if it is refused.
inline Descriptor Connect(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!ConnectTo(socket, port)) return Descriptor();
  return socket;
}

// Sends all; false if the other side has closed.
inline bool SendAll(const Descriptor& socket, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = send(socket.get(), bytes.data() + sent,
                               bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += count;
  }
  return true;
}

// Waits for the other side to send something, or to close; true: it closed.
inline bool IsClosed(const Descriptor& socket) {
  char byte;
  return recv(socket.get(), &byte, 1, 0) <= 0;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_SOCKETS_H_
