#ifndef ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_
#define ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"

namespace attend {

// gRPC compares the length of a message with its limit when it has read all of
// it, and unpacked it: it holds whatever a client sends, and of zeros a
// thousand times as much. From the first call on, messages are followed as
// IncomingCall says, and unpacking ends at `max_bytes`. That is so for all
// calls of the process that begin later; the last call of this counts.
//
// A program that calls this takes the place of two functions inside of libgrpc,
// as for header_limit.h. False: libgrpc is another one, and nothing is limited.
bool LimitMessages(int max_bytes);

// Why a message could not be unpacked; OK: it was, or was not packed. libgrpc
// has no status for that, so the message itself says it.
absl::Status CheckUnpacked(const grpc::ByteBuffer& message);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_
