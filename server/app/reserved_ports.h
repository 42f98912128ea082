#ifndef ATTEND_SERVER_APP_RESERVED_PORTS_H_
#define ATTEND_SERVER_APP_RESERVED_PORTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/grpc/descriptor.h"
#include "server/grpc/rpc_options.h"
#include "server/http/http_options.h"

namespace attend {

// Holds the server's ports while its models load, without listening: clients
// are refused, as by a server that is not there, but no other server gets the
// ports. So a port that is in use, and an address that this machine does not
// have, are found in milliseconds instead of after minutes of loading. Not
// thread-safe.
class ReservedPorts {
 public:
  // Binds the ports of both options, except port 0 (any free one) and ports
  // whose sockets were inherited. UNAVAILABLE names the address and the reason.
  absl::Status Reserve(const RpcOptions& rpc, const HttpOptions& http);
  // Lets go of all ports, immediately before the server listens on them.
  void Release() { sockets_.clear(); }

 private:
  absl::Status Reserve(const std::string& host, int port);

  std::vector<Descriptor> sockets_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_RESERVED_PORTS_H_
