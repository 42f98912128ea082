#include "server/grpc/rpc_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/accepted_calls.h"
#include "server/grpc/call.h"
#include "server/grpc/connection_acceptor.h"
#include "server/grpc/descriptor.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/grpc_weaknesses.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"
#include "server/grpc/health.h"
#include "server/grpc/health_call.h"
#include "server/grpc/listener.h"
#include "server/grpc/message_limit.h"
#include "server/grpc/port_probe.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/read_turns.h"
#include "server/grpc/request_stream.h"
#include "server/grpc/tls_credentials.h"
#include "server/observability/log.h"

namespace attend {
namespace {

constexpr int kLoops = 2;

// From the end of the last call to that of its connection.
constexpr absl::Duration kLastWords = absl::Milliseconds(200);

std::shared_ptr<grpc::ServerCredentials> MakeCredentials(
    const Certificates* certificates) {
  if (certificates == nullptr) return grpc::InsecureServerCredentials();
  return NewTlsCredentials(*certificates);
}

// Milliseconds of a channel argument; infinite is gRPC's own "never".
int Millis(absl::Duration duration) {
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(duration),
                                            std::numeric_limits<int>::max()));
}

void SetLimits(const RpcOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  const std::pair<const char*, int> arguments[] = {
      {GRPC_ARG_MAX_METADATA_SIZE, kMaxHeaderBytes},
      // Of gRPC 1.56, which would refuse by chance what is between the two.
      {"grpc.absolute_max_metadata_size", kMaxHeaderBytes},
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams},
      {GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, static_cast<int>(kTurnBytes)},
      {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Millis(options.handshake_timeout)},
      {GRPC_ARG_KEEPALIVE_TIME_MS, Millis(options.keepalive_time)},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Millis(options.keepalive_timeout)},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
      {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
       Millis(options.min_ping_interval)},
      {GRPC_ARG_MAX_CONNECTION_AGE_MS, Millis(options.max_connection_age)},
      {GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
       Millis(options.max_connection_age_grace)},
  };
  for (const auto& [name, value] : arguments) {
    builder.AddChannelArgument(name, value);
  }
  AcceptedCalls::OfProcess().set_max_open(options.max_concurrent_streams);
}

// Descriptors that connections leave to the HTTP port, the log, the probe and
// files.
int Reserve(int descriptor_limit) {
  return std::clamp(descriptor_limit / 4, 16, 256);
}

ConnectionLimits Limits(const RpcOptions& options) {
  const int descriptors = DescriptorLimit();
  return {.connections = options.max_connections,
          .per_address = options.max_connections_per_address,
          .descriptors = descriptors - Reserve(descriptors)};
}

// docs/security.md says what Attend itself does about them.
void LogWeaknesses(const RpcOptions& options, Log& log) {
  if (!LimitMessages(options.max_message_bytes)) {
    log.Write(
        LogLevel::kWarning, "messages_unlimited",
        {{"version", grpc::Version()},
         {"warning",
          "--max-message-bytes is checked when a message has been read"}});
  }
  if (!HasKnownWeaknesses(grpc::Version())) return;
  log.Write(LogLevel::kInfo, "old_grpc",
            {{"version", grpc::Version()},
             {"weaknesses", "CVE-2023-33953,CVE-2023-4785"},
             {"headers_limited", LimitsHeaderBlocks() ? "yes" : "no"},
             {"connections_limited", "yes"}});
}

absl::Duration WatchInterval(const RpcOptions& options) {
  return std::clamp(options.slow_reader_timeout / 4, absl::Milliseconds(10),
                    absl::Seconds(5));
}

// What of a connection stays with malloc when it has ended.
constexpr int64_t kConnectionBytes = 16 << 10;
constexpr int64_t kTlsConnectionBytes = 80 << 10;

}  // namespace

struct RpcServer::Impl {
  using Connections = grpc::experimental::ExternalConnectionAcceptor;
  using NewConnection = Connections::NewConnectionParameters;

  Impl(const RpcOptions& options, CallEnvironment& calls, StepSignal& signal)
      : step_signal(signal),
        environment{calls,
                    options.slow_reader_timeout,
                    options.max_stream_requests,
                    {},
                    {}} {
    const std::vector<Method>& methods = calls.service.methods;
    std::set<const google::protobuf::ServiceDescriptor*> known;
    std::vector<std::string> names;
    for (const Method& method : methods) {
      const auto* descriptor = method.descriptor->service();
      if (!known.insert(descriptor).second) continue;
      rpc_services.emplace_back(*descriptor, methods);
      names.push_back(rpc_services.back().name());
    }
    health.emplace(calls.service, std::move(names));
  }

  // Asks for a call of each method.
  void Serve(EventLoop& loop) {
    HealthLoop& shared = health_loops.emplace_back(
        HealthLoop{health_service, *health, environment, loop});
    for (int i = 0; i < health_service.size(); ++i) HealthCall::Ask(shared, i);
    for (RawService& rpc : rpc_services) {
      for (int i = 0; i < rpc.size(); ++i) {
        if (rpc.method(i).descriptor->client_streaming()) {
          RequestStream::Ask(rpc, i, environment, loop);
        } else {
          Call::Ask(rpc, i, environment, loop);
        }
      }
    }
    loop.Start();
  }

  // Starts to accept, and to ask itself whether it does.
  void Open(Listener listener, ConnectionLimits limits,
            ConnectionMetrics& metrics, int64_t connection_bytes) {
    port = listener.port;
    acceptor.emplace(
        std::move(listener.sockets), limits, metrics,
        [this](int socket) {
          NewConnection connection;
          connection.fd = socket;
          new_connections->HandleNewConnection(&connection);
        },
        [this, connection_bytes](int connections) {
          environment.calls.heap.Freed(connections * connection_bytes);
        });
    probe.emplace(listener.address);
  }

  StepSignal& step_signal;
  RpcEnvironment environment;
  std::deque<RawService> rpc_services;
  std::optional<Health> health;
  const std::vector<Method> health_methods = HealthMethods();
  RawService health_service{*health_methods[0].descriptor->service(),
                            health_methods};
  std::deque<HealthLoop> health_loops;
  int port = 0;
  bool inherited = false;  // the sockets of the port
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Connections> new_connections;
  std::optional<ConnectionAcceptor> acceptor;
  std::optional<PortProbe> probe;
};

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RpcServer::~RpcServer() { Shutdown(absl::ZeroDuration()); }

int RpcServer::port() const { return impl_->port; }

bool RpcServer::alive() const { return impl_->probe->alive(); }

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcOptions& options, CallEnvironment& calls, StepSignal& step_signal,
    ConnectionMetrics& connections, const Certificates* certificates) {
  RETURN_IF_ERROR(options.Validate());
  ASSIGN_OR_RETURN(
      Listener listener,
      options.inherited_sockets.empty()
          ? Listen(options.host, options.port, options.keepalive_timeout)
          : Adopt(options.inherited_sockets, options.keepalive_timeout));
  auto impl = std::make_unique<Impl>(options, calls, step_signal);
  grpc::ServerBuilder builder;
  SetLimits(options, builder);
  using Experimental = grpc::ServerBuilder::experimental_type;
  impl->new_connections = builder.experimental().AddExternalConnectionAcceptor(
      Experimental::ExternalConnectionType::FROM_FD,
      MakeCredentials(certificates));
  for (RawService& rpc : impl->rpc_services) builder.RegisterService(&rpc);
  builder.RegisterService(&impl->health_service);
  for (int i = 0; i < kLoops; ++i) {
    impl->loops.push_back(std::make_unique<EventLoop>(
        builder.AddCompletionQueue(), WatchInterval(options)));
  }
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) {
    return absl::InternalError(
        "grpc cannot start; the log has more (event=grpc)");
  }
  for (auto& loop : impl->loops) impl->Serve(*loop);
  step_signal.Connect(impl.get(), [&loops = impl->loops] {
    for (auto& loop : loops) loop->Flush();
  });
  std::unique_ptr<RpcServer> server(new RpcServer(std::move(impl)));
  server->SetServing(true);
  LogWeaknesses(options, calls.service.log);
  server->impl_->inherited = !options.inherited_sockets.empty();
  server->impl_->Open(
      std::move(listener), Limits(options), connections,
      certificates == nullptr ? kConnectionBytes : kTlsConnectionBytes);
  return server;
}

void RpcServer::SetServing(bool serving) { impl_->health->Tell(serving); }

void RpcServer::ModelsChanged() { impl_->health->TellAgain(); }

bool RpcServer::serving() const { return impl_->health->serving(); }

void RpcServer::LeaveInheritedSockets() {
  if (!impl_->inherited) return;
  impl_->probe->Stop();  // nobody would answer it
  impl_->acceptor.reset();
}

void RpcServer::Shutdown(absl::Duration grace) {
  if (impl_ == nullptr || impl_->server == nullptr) return;
  impl_->environment.calls.Drain();
  grace = std::min(grace, absl::Hours(24));
  // The grace is for calls that work. Health watchers are told, and cut soon:
  // they never end by themselves and would hold the server.
  impl_->environment.answered_calls.WaitForNone(grace);
  impl_->acceptor.reset();
  impl_->health->Tell(false);
  impl_->server->Shutdown(
      absl::ToChronoTime(absl::Now() + std::min(grace, kLastWords)));
  impl_->environment.live_calls.WaitForNone();
  impl_->step_signal.Disconnect(impl_.get());
  impl_->loops.clear();
  impl_->server.reset();
}

}  // namespace attend
