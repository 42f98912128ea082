#ifndef ATTEND_SERVER_GRPC_RPC_ENVIRONMENT_H_
#define ATTEND_SERVER_GRPC_RPC_ENVIRONMENT_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "server/service/live_calls.h"
#include "server/service/service_call.h"

namespace attend {

// What all gRPC calls of a server share. Outlives the calls.
struct RpcEnvironment {
  // A call has no request and will have none. Clients may hold very many of
  // them, and end all of them at once.
  void EndsUnread() { calls.heap.Freed(kHeaderBytes); }

  // What gRPC keeps for a call with all the headers that it may have.
  static constexpr int64_t kHeaderBytes = 64 << 10;

  CallEnvironment& calls;
  const absl::Duration slow_reader_timeout;
  const int max_stream_requests;  // in work at once, of one stream
  LiveCalls live_calls;           // all calls, accepted or not
  LiveCalls answered_calls;       // those whose requests have come

  // The time that a client has to read a message of so many bytes.
  absl::Duration TimeToRead(size_t bytes) const {
    constexpr size_t kBytesOfTimeout = 1 << 20;
    return slow_reader_timeout * (1 + bytes / kBytesOfTimeout);
  }
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RPC_ENVIRONMENT_H_
