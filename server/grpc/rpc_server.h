#ifndef ATTEND_SERVER_GRPC_RPC_SERVER_H_
#define ATTEND_SERVER_GRPC_RPC_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/grpc/rpc_options.h"
#include "server/observability/connection_metrics.h"
#include "server/service/service_call.h"
#include "server/service/step_signal.h"

namespace attend {

class Certificates;

// The gRPC port: attend.v1, grpc.health.v1 and reflection. Two threads, each
// with a completion queue of its own, serve all calls.
//
// An orderly end: SetServing(false), Drain() the calls, wait for the schedulers
// to be idle, Cut() what took too long, Shutdown(). The schedulers must run
// until Shutdown() has returned.
class RpcServer {
 public:
  // `calls`, which other ports may share, `step_signal` and `connections` must
  // outlive the server, and so must `certificates`; without them the port is
  // plain text. UNAVAILABLE if the port cannot be bound.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const RpcOptions& options, CallEnvironment& calls,
      StepSignal& step_signal, ConnectionMetrics& connections,
      const Certificates* certificates = nullptr);
  // Shutdown() without grace, if it was not called before.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // That was bound.
  int port() const;
  // False: nobody has answered on the port for a while. Any thread may ask.
  bool alive() const;

  // What grpc.health.v1 says: overall (""), of "attend.v1.Attend" and of each
  // model's name; of one that could not be loaded always NOT_SERVING. SERVING
  // at the start.
  void SetServing(bool serving);
  // Drains the calls and closes the port; calls that still run after `grace`
  // are cancelled. Returns when all have ended.
  void Shutdown(absl::Duration grace);

 private:
  struct Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RPC_SERVER_H_
