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
// An orderly end has these steps: SetServing(false); CallEnvironment::Drain();
// wait until the schedulers are idle; if that takes too long,
// CallEnvironment::Cut(); Shutdown(). The schedulers must run until Shutdown()
// has returned.
class RpcServer {
 public:
  // The arguments, except `options`, must outlive the server. Other ports may
  // share `calls`. Without `certificates` the port has no TLS. UNAVAILABLE if
  // the port cannot be bound.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const RpcOptions& options, CallEnvironment& calls,
      StepSignal& step_signal, ConnectionMetrics& connections,
      const Certificates* certificates = nullptr);
  // Shutdown() without grace, if it was not called before.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // The port that was bound.
  int port() const;
  // False: nobody has answered on the port for a while. Any thread may ask.
  bool alive() const;

  // Sets what grpc.health.v1 answers: for the server (""), for
  // "attend.v1.Attend" and for the name of each model. At the start the answer
  // is SERVING, but for models that are not ready (ModelEntry::ready()), and
  // for the server if none is. One thread calls this, again whenever that may
  // have changed.
  void SetServing(bool serving);
  // Models have come or gone: health is told at once. Any thread may call this.
  void ModelsChanged();
  // The answer for the server. Any thread may ask.
  bool serving() const;
  // If the sockets of the port were inherited, accepts no more connections: who
  // connects from now on waits for the next server that inherits them.
  void LeaveInheritedSockets();
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
