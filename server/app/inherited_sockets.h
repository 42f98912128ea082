#ifndef ATTEND_SERVER_APP_INHERITED_SOCKETS_H_
#define ATTEND_SERVER_APP_INHERITED_SOCKETS_H_

#include "absl/status/status.h"
#include "server/grpc/rpc_options.h"
#include "server/http/http_options.h"

namespace attend {

// Takes the sockets with which a service manager has started the process
// (systemd's socket activation: $LISTEN_FDS, of the process $LISTEN_PID), and
// gives each to the options of the port that it listens on. Connections that
// came before are served, and none is refused while there is no server. Without
// these variables nothing changes. To be called before there are other threads
// or processes, once: the variables are unset.
//
// INVALID_ARGUMENT names the descriptor: it is no socket of TCP that listens,
// or its port is not of the options.
absl::Status InheritSockets(RpcOptions& rpc, HttpOptions& http);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_INHERITED_SOCKETS_H_
