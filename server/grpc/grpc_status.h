#ifndef ATTEND_SERVER_GRPC_GRPC_STATUS_H_
#define ATTEND_SERVER_GRPC_GRPC_STATUS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace attend {

// Converts a status to a gRPC status; no other function does. A retry hint (the
// payload kRetryAfterUrl) becomes google.rpc.RetryInfo in the details.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Adds the retry hint of `status`, if it has one, to the call's metadata, as
// `grpc-retry-pushback-ms` in milliseconds. gRPC's own retries read the hint
// there. RESOURCE_EXHAUSTED without a hint gets -1, which forbids a retry.
void AddRetryPushback(const absl::Status& status, grpc::ServerContext& context);

// Adds the id to the headers of a call whose answer begins, with the status OK,
// or ends with `status` at once. A call that may be made again has the id in
// its trailers: gRPC retries only answers without headers (gRFC A6).
void AddRequestId(const std::string& id, const absl::Status& status,
                  grpc::ServerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_GRPC_STATUS_H_
