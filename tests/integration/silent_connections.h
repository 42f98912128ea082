#ifndef ATTEND_TESTS_INTEGRATION_SILENT_CONNECTIONS_H_
#define ATTEND_TESTS_INTEGRATION_SILENT_CONNECTIONS_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace attend {

// Connections that say nothing, closed at the end. The server greets those that
// it keeps.
class SilentConnections {
 public:
  SilentConnections(int port, int count) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(sockets_.back(), reinterpret_cast<sockaddr*>(&address),
                        sizeof(address)),
                0);
    }
  }
  SilentConnections(const SilentConnections&) = delete;
  ~SilentConnections() {
    for (int socket : sockets_) close(socket);
  }
  // Waits until the server says something or closes; true: it closed.
  bool LastIsClosed() const {
    char byte;
    return recv(sockets_.back(), &byte, 1, 0) <= 0;
  }

 private:
  std::vector<int> sockets_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_SILENT_CONNECTIONS_H_
