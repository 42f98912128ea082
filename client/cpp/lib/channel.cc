#include "client/cpp/lib/channel.h"

#include <chrono>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/lib/target.h"

namespace attend {

namespace {

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(
    const std::optional<ClientTls>& tls) {
  if (!tls.has_value()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls->ca;
  options.pem_cert_chain = tls->cert;
  options.pem_private_key = tls->key;
  return grpc::SslCredentials(options);
}

// A server that does not answer a ping is given up, and its calls are made
// again elsewhere. A server takes a ping in 10 s (--min-ping-interval).
void SetPings(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 12000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit
}

}  // namespace

std::vector<std::string> AddressesOf(const ClientOptions& options) {
  const auto split = SplitAddresses(options.address);
  return split.ok() ? *split : std::vector{options.address};
}

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options) {
  const std::vector<std::string> addresses = AddressesOf(options);
  return OpenChannel(options, TargetOf(addresses), addresses[0]);
}

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options,
                                           const std::string& target,
                                           const std::string& name) {
  grpc::ChannelArguments arguments;
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  } else if (target != name) {
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, name);
  }
  SetPings(arguments);
  arguments.SetServiceConfigJSON(R"({
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": ""}})");
  arguments.SetInt(GRPC_ARG_INHIBIT_HEALTH_CHECKING, !options.health_checks);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetMaxReceiveMessageSize(-1);
  // Each channel has a connection of its own, also if a process has two
  // clients.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target, CredentialsOf(options.tls),
                                   arguments);
}

Metadata MetadataOf(const ClientOptions& options) {
  Metadata metadata = options.metadata;
  if (!options.token.empty()) {
    metadata.emplace_back("authorization",
                          absl::StrCat("Bearer ", options.token));
  }
  return metadata;
}

void AddMetadata(grpc::ClientContext& context, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
}

void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  if (timeout == absl::InfiniteDuration()) return;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoNanoseconds(timeout));
}

std::unique_ptr<UnaryReader> PrepareUnary(
    UnaryStub& stub, grpc::ClientContext& context, const std::string& method,
    const google::protobuf::Message& request, grpc::CompletionQueue& queue) {
  const bool is_path = absl::StrContains(method, '/');
  return stub.PrepareUnaryCall(
      &context, absl::StrCat("/attend.v1.", is_path ? "" : "Attend/", method),
      request, &queue);
}

absl::Status ToAbslStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace attend
