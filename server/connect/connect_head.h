#ifndef ATTEND_SERVER_CONNECT_CONNECT_HEAD_H_
#define ATTEND_SERVER_CONNECT_CONNECT_HEAD_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/http/http_message.h"

namespace attend {

// The encoding of the messages of a call.
enum class ConnectCodec { kJson, kProto };

// The content type of a body. `streams`: it has envelopes.
absl::string_view ContentType(ConnectCodec codec, bool streams);

// The codec that the header Content-Type names. INVALID_ARGUMENT if the client
// sent another type or none.
absl::StatusOr<ConnectCodec> CodecOf(const HttpRequest& head, bool streams);

// INVALID_ARGUMENT if the client has another version of the protocol;
// UNIMPLEMENTED if its messages are compressed.
absl::Status CheckConnectHead(const HttpRequest& head, bool streams);

// The time that the client gives the call (Connect-Timeout-Ms); infinite: as
// long as it takes.
absl::StatusOr<absl::Duration> ConnectTimeout(const HttpRequest& head);

}  // namespace attend

#endif  // ATTEND_SERVER_CONNECT_CONNECT_HEAD_H_
