#ifndef ATTEND_SERVER_GRPC_CONNECTION_ACCEPTOR_H_
#define ATTEND_SERVER_GRPC_CONNECTION_ACCEPTOR_H_

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "server/grpc/connection_table.h"
#include "server/grpc/descriptor.h"
#include "server/observability/connection_metrics.h"

namespace attend {

// Accepts connections on a thread of its own, and hands them to the handler as
// long as there is room for them. A connection for which there is no room is
// closed at once, so that no client waits for an answer that never comes. The
// acceptor goes on after descriptors have run out; gRPC's own listener would
// then never accept a connection again (CVE-2023-4785).
class ConnectionAcceptor {
 public:
  // Takes over the socket, which is non-blocking. Called on the acceptor's
  // thread.
  using Handler = std::function<void(int socket)>;
  // So many connections have ended. Called on the acceptor's thread, within a
  // second of their end.
  using Ended = std::function<void(int connections)>;

  // `sockets` are listening and non-blocking. `metrics` must outlive the
  // acceptor.
  ConnectionAcceptor(std::vector<Descriptor> sockets, ConnectionLimits limits,
                     ConnectionMetrics& metrics, Handler handler, Ended ended);
  // Stops listening; the handler is not called any more.
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

 private:
  void RunThread();
  void AcceptAll(int listening);
  bool AcceptOne(int listening);
  bool RefuseWithSpare(int listening);
  void HandOn(Descriptor socket, const std::string& address);
  void Sweep();
  absl::Duration SinceSweep() const;
  int TimeoutMillis() const;

  const std::vector<Descriptor> sockets_;
  ConnectionMetrics& metrics_;
  const Handler handler_;
  const Ended ended_;
  const Descriptor stop_;  // an eventfd

  // The thread's own.
  ConnectionTable table_;
  Descriptor spare_;     // given up to refuse where no other is left
  bool paused_ = false;  // not even a refusal was possible
  std::chrono::steady_clock::time_point swept_ = {};

  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CONNECTION_ACCEPTOR_H_
