#ifndef ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_
#define ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_

namespace attend {

// gRPC compares the length of a message with its limit when it has read all of
// it, and unpacked it: it holds whatever a client sends, and of zeros a
// thousand times as much. From the first call on, a message of which more than
// `max_bytes` are still to come ends its call as RESOURCE_EXHAUSTED when its
// head is there, and unpacking ends at `max_bytes`, as INTERNAL. That is so for
// all calls of the process; the last call of this counts.
//
// A program that calls this takes the place of three functions inside of
// libgrpc, as for header_limit.h. False: libgrpc is another one, and nothing is
// limited.
bool LimitMessages(int max_bytes);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_MESSAGE_LIMIT_H_
