#include "server/app/inherited_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/listener.h"

namespace attend {
namespace {

constexpr int kFirstDescriptor = 3;
constexpr int kMostSockets = 64;

int SocketOption(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (getsockopt(socket, SOL_SOCKET, option, &value, &size) != 0) return -1;
  return value;
}

bool ListensOnTcp(int descriptor) {
  const int family = SocketOption(descriptor, SO_DOMAIN);
  return (family == AF_INET || family == AF_INET6) &&
         SocketOption(descriptor, SO_TYPE) == SOCK_STREAM &&
         SocketOption(descriptor, SO_ACCEPTCONN) == 1;
}

// Returns the number of sockets for this process.
absl::StatusOr<int> CountSockets() {
  const char* process = std::getenv("LISTEN_PID");
  const char* sockets = std::getenv("LISTEN_FDS");
  int id = 0;
  if (process == nullptr || sockets == nullptr ||
      !absl::SimpleAtoi(process, &id) || id != getpid()) {
    return 0;
  }
  int count = 0;
  if (!absl::SimpleAtoi(sockets, &count) || count < 0 || count > kMostSockets) {
    return absl::InvalidArgumentError(
        absl::StrCat("LISTEN_FDS is '", absl::CHexEscape(sockets),
                     "', must be in [0, ", kMostSockets, "]"));
  }
  return count;
}

absl::Status Wrong(int descriptor, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("descriptor ", descriptor, " (LISTEN_FDS) ", what));
}

absl::Status Inherit(int descriptor, RpcOptions& rpc, HttpOptions& http) {
  if (!ListensOnTcp(descriptor)) {
    return Wrong(descriptor, "is no socket of TCP that listens");
  }
  // The server's own children have no use for it.
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  const int port = PortOf(descriptor);
  if (port == rpc.port) {
    rpc.inherited_sockets.push_back(descriptor);
    return absl::OkStatus();
  }
  if (port != http.port) {
    return Wrong(descriptor,
                 absl::StrCat("listens on port ", port, ", must be ", rpc.port,
                              " (port) or ", http.port, " (http_port)"));
  }
  if (http.inherited_socket >= 0) {
    return Wrong(descriptor, absl::StrCat("is the second socket of port ", port,
                                          " (http_port), limit is 1"));
  }
  http.inherited_socket = descriptor;
  return absl::OkStatus();
}

}  // namespace

absl::Status InheritSockets(RpcOptions& rpc, HttpOptions& http) {
  ASSIGN_OR_RETURN(const int count, CountSockets());
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
    unsetenv(variable);
  }
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(Inherit(kFirstDescriptor + i, rpc, http));
  }
  return absl::OkStatus();
}

}  // namespace attend
