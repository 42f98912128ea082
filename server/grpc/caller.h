#ifndef ATTEND_SERVER_GRPC_CALLER_H_
#define ATTEND_SERVER_GRPC_CALLER_H_

#include <grpcpp/server_context.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/grpc/incoming_call.h"
#include "server/scheduler/clock.h"
#include "server/tenants/tenants.h"
#include "server/tracing/call_trace.h"

namespace attend {

// What the headers of a call say, and its connection proves. What is returned
// borrows from `context`.

// The value of a key that the client sent once; else empty.
absl::string_view MetadataValue(const grpc::ServerContext& context,
                                absl::string_view key);

// The deadline by `clock`, which does not jump with the system's clock.
// Infinite if the client set none; a timeout of any length is valid.
absl::Time DeadlineOf(const grpc::ServerContext& context, const Clock& clock);

// How often the client has made the call before, by gRPC's own key for that; 0:
// it does not say, or what it says is no number.
int AttemptsBefore(const grpc::ServerContext& context);

// The trace that the client wants to see the call in.
TraceHeaders TraceHeadersOf(const grpc::ServerContext& context);

CallerProof ProofOf(const grpc::ServerContext& context);

// UNIMPLEMENTED if the client's messages are compressed in a way that gRPC does
// not know (grpc-encoding).
absl::Status CheckEncoding(const grpc::ServerContext& context);

// What arrives of the call; see IncomingCalls. Null: the client has gone.
std::shared_ptr<IncomingCall> IncomingCallOf(
    const grpc::ServerContext& context);

// Ends a call that may still be read. The client is told `status`.
void CancelWith(const absl::Status& status, grpc::ServerContext& context);

// "ipv4:10.0.0.1" of "ipv4:10.0.0.1:50051"; the others end in their port, too.
absl::string_view HostOf(absl::string_view peer);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CALLER_H_
