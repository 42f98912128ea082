#ifndef ATTEND_SERVER_GRPC_CANCEL_STREAM_H_
#define ATTEND_SERVER_GRPC_CANCEL_STREAM_H_

#include "absl/status/status.h"

namespace attend {

// False: libgrpc is one whose streams cannot be ended by CancelStream().
bool CanCancelStreams();

// Ends one stream of libgrpc's connection `transport`. The client is told
// `status`; other streams go on. Only where libgrpc reads from the connection.
void CancelStream(void* transport, void* stream, absl::Status status);

// `status` as an error of libgrpc that concerns a stream, and not its
// connection. The client is told its code and message.
absl::Status StreamError(absl::Status status);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CANCEL_STREAM_H_
