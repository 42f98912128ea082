#ifndef ATTEND_SERVER_GRPC_CALLER_H_
#define ATTEND_SERVER_GRPC_CALLER_H_

#include <grpcpp/server_context.h>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/scheduler/clock.h"
#include "server/tenants/tenants.h"
#include "server/tracing/call_trace.h"

namespace attend {

// What the headers of a call say, and its connection proves. What is returned
// borrows from `context`.

// The value of a key that the client sent once; else empty.
absl::string_view MetadataValue(const grpc::ServerContext& context,
                                absl::string_view key);

// By `clock`; gRPC gives a deadline by the system's clock, which may be set
// afterwards.
absl::Time DeadlineOf(const grpc::ServerContext& context, const Clock& clock);

// How often the client has made the call before, by gRPC's own key for that; 0:
// it does not say, or what it says is no number.
int AttemptsBefore(const grpc::ServerContext& context);

// The trace that the client wants to see the call in.
TraceHeaders TraceHeadersOf(const grpc::ServerContext& context);

CallerProof ProofOf(const grpc::ServerContext& context);

// "ipv4:10.0.0.1" of "ipv4:10.0.0.1:50051"; the others end in their port, too.
absl::string_view HostOf(absl::string_view peer);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CALLER_H_
