#ifndef ATTEND_SERVER_GRPC_RPC_OPTIONS_H_
#define ATTEND_SERVER_GRPC_RPC_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// Of the gRPC port and of what calls may cost before they are queued.
struct RpcOptions {
  // Address that the gRPC port listens on.
  std::string host = "0.0.0.0";
  // 0: any free one.
  int port = 50051;

  // Inputs in one call. Higher: one call may fill the queue.
  int max_batch_inputs = 256;
  // Bytes of one request. Higher: more memory a call before anything is
  // checked.
  int max_message_bytes = 16 << 20;
  // Calls at once on one connection; more of them wait in the client.
  int max_concurrent_streams = 1000;

  // Threads that tokenise. They take CPU time from the engine's.
  int tokenizer_threads = 1;
  // Calls that wait to be tokenised. Higher: later refusals when flooded.
  int max_tokenizer_queue = 1024;

  // A call whose client has not read for so long is cancelled. Higher: dead
  // clients hold their results in memory longer.
  absl::Duration slow_reader_timeout = absl::Seconds(30);

  // Pings to a quiet connection, and the wait for their answer. Lower: dead
  // clients are seen earlier, for more packets.
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Clients that ping more often are disconnected.
  absl::Duration min_ping_interval = absl::Seconds(10);
  // Connections are closed in an orderly way after this time, so that clients
  // behind a balancer spread anew. Infinite: never.
  absl::Duration max_connection_age = absl::InfiniteDuration();
  // What a call that runs then may still take.
  absl::Duration max_connection_age_grace = absl::Minutes(10);

  // Answer grpc.reflection, which shows the API's descriptors to anybody.
  bool reflection = true;

  // PEM files; both or none. Empty: plain text.
  std::string tls_cert = "";
  std::string tls_key = "";

  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RPC_OPTIONS_H_
