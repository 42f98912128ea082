#ifndef ATTEND_SERVER_GRPC_LISTENER_H_
#define ATTEND_SERVER_GRPC_LISTENER_H_

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/grpc/descriptor.h"

namespace attend {

// Sockets that listen on one port, on each address of a host.
struct Listener {
  std::vector<Descriptor> sockets;  // non-blocking
  int port = 0;
  // Of the first socket: the address by which this machine reaches it.
  sockaddr_storage address = {};
};

// `host`: a name, or an address with or without brackets. 0.0.0.0 and :: stand
// for all addresses of both families. `port` 0: any free port. If a client does
// not acknowledge data for `user_timeout`, its connection ends. UNAVAILABLE has
// the system's reason, for instance that the port is in use.
absl::StatusOr<Listener> Listen(const std::string& host, int port,
                                absl::Duration user_timeout);

// The same of sockets of TCP that listen already, at least one, all on one
// port. Takes them over.
absl::StatusOr<Listener> Adopt(const std::vector<int>& sockets,
                               absl::Duration user_timeout);

// The port that a socket is bound to; 0: none.
int PortOf(int socket);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_LISTENER_H_
