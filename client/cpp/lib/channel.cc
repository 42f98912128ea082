#include "client/cpp/lib/channel.h"

#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

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

}  // namespace

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  // Each channel has a connection of its own, also if a process has two
  // clients.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(options.address, CredentialsOf(options.tls),
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
