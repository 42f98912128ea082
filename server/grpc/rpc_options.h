#ifndef ATTEND_SERVER_GRPC_RPC_OPTIONS_H_
#define ATTEND_SERVER_GRPC_RPC_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/service/fair_share.h"

namespace attend {

// Options of the gRPC port, and limits of what a call may cost before its
// inputs are queued.
struct RpcOptions {
  // Address that the gRPC port listens on.
  std::string host = "0.0.0.0";
  // 0: any free port.
  int port = 50051;
  // Sockets that listen on the port already, in place of `host`. The server
  // that is started with them takes them over.
  std::vector<int> inherited_sockets = {};

  // How calls are divided among tenants that get equal shares of a model, if
  // there is no file of tenants.
  FairShare fair_share = FairShare::kAddress;

  // The most inputs of one call that wait or run at once, and the most inputs
  // of a call that generates, scores or tokenises. Higher: one call may fill
  // the queue.
  int max_batch_inputs = 256;
  // Memory of the inputs and results of one call that embeds, classifies, fills
  // masks, answers or ranks; see InputWindow. Higher: a call may have more
  // inputs, and take more memory.
  size_t max_call_bytes = size_t{256} << 20;
  // The most sentences of the documents of one call. Higher: one call may take
  // more memory, and a model for longer; no more than max_batch_inputs of them
  // wait or run at once.
  int max_document_sentences = 8192;
  // The most bytes of one request. Higher: a call may take more memory before
  // anything is checked.
  size_t max_message_bytes = 16 << 20;
  // The most connections at once. Further connections are closed as they come,
  // and so are connections that would take the last descriptors. Higher: more
  // memory, about 20 KiB for each connection, 100 KiB with TLS.
  int max_connections = 10000;
  // The most connections at once of one client address; 0: no limit. IPv6
  // addresses with the same first 64 bits count as one. Behind a proxy all
  // connections have the address of the proxy.
  int max_connections_per_address = 0;
  // The most calls at once on one connection; further calls wait in the client.
  // Higher: one client may hold more.
  int max_concurrent_streams = 1000;

  // The most requests in work at once of one stream of requests; further ones
  // are read when one of them has ended. Higher: one client may hold more.
  int max_stream_requests = 256;

  // The number of threads that tokenise. One of several threads takes short
  // texts only; with a single thread, a short text waits for a part of a long
  // text. Higher: tokenising takes more CPU time from the engine.
  int tokenizer_threads = 2;
  // The most calls that wait to be tokenised. Higher: later refusals when
  // flooded.
  int max_tokenizer_queue = 1024;

  // A call is cancelled if its client takes longer to read an answer, or each
  // MiB of a long one. Higher: dead clients hold their results in memory
  // longer.
  absl::Duration slow_reader_timeout = absl::Seconds(30);

  // The time from the opening of a connection until the client has sent the
  // beginning of HTTP/2, the TLS handshake included. Higher: clients that send
  // nothing hold connections longer.
  absl::Duration handshake_timeout = absl::Seconds(20);
  // A connection that is quiet for keepalive_time is pinged, and closed if no
  // answer comes within keepalive_timeout. Higher: dead clients are noticed
  // later. Lower: more packets.
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Clients that ping more often are disconnected.
  absl::Duration min_ping_interval = absl::Seconds(10);
  // A connection takes no new calls after this time, and closes when its calls
  // have ended. Thus a balancer can distribute clients anew. Infinite: never.
  absl::Duration max_connection_age = absl::InfiniteDuration();
  // How long the calls of such a connection may still run.
  absl::Duration max_connection_age_grace = absl::Minutes(10);

  // INVALID_ARGUMENT names the option, its value and its limits.
  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RPC_OPTIONS_H_
