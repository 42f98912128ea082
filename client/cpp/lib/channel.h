#ifndef ATTEND_CLIENT_CPP_LIB_CHANNEL_H_
#define ATTEND_CLIENT_CPP_LIB_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// Private to the library: what its two users of gRPC, the blocking client and
// the load generator, share.

// A channel without TLS, without a limit on a message's size, and without
// gRPC's own retries (see RetryPolicy).
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

// Sets the deadline, unless `timeout` is infinite.
void SetTimeout(grpc::ClientContext& context, absl::Duration timeout);

// The codes of both are those of google.rpc.Code.
absl::Status ToAbslStatus(const grpc::Status& status);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CHANNEL_H_
