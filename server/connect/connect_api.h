#ifndef ATTEND_SERVER_CONNECT_CONNECT_API_H_
#define ATTEND_SERVER_CONNECT_CONNECT_API_H_

#include "absl/types/span.h"
#include "server/http_call/http_api.h"
#include "server/service/methods.h"

namespace attend {

// The methods by the Connect protocol (https://connectrpc.com/docs/protocol):
// POST /PACKAGE.SERVICE/METHOD with a message in JSON or as protobuf's bytes; a
// method that streams has messages in envelopes. All methods must be of proto
// files, and of services that start with "attend.".
HttpApi ConnectApi(absl::Span<const Method> methods);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_CONNECT_API_H_
