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
  std::vector<Descriptor> sockets;  // do not block
  int port = 0;
  sockaddr_storage address = {};  // of the first, as this machine reaches it
};

// `host`: a name, an address, or one in brackets; 0.0.0.0 and :: are all
// addresses of both families. Port 0: any free one. Data that a client does not
// acknowledge for `user_timeout` ends its connection.
// UNAVAILABLE with the system's reason, such as a port in use.
absl::StatusOr<Listener> Listen(const std::string& host, int port,
                                absl::Duration user_timeout);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_LISTENER_H_
