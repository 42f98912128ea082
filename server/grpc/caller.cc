#include "server/grpc/caller.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"

namespace attend {
namespace {

grpc::string_ref KeyOf(absl::string_view key) {
  return {key.data(), key.size()};
}

// Of the metadata `authorization`; see CallerProof.
std::optional<absl::string_view> Authorization(
    const grpc::ServerContext& context) {
  constexpr absl::string_view kKey = "authorization";
  if (context.client_metadata().count(KeyOf(kKey)) == 0) return std::nullopt;
  return MetadataValue(context, kKey);
}

// The names in the client's certificate; see CallerProof. gRPC has checked it
// before there was a call.
std::vector<std::string> CertificateNames(const grpc::ServerContext& context) {
  std::vector<std::string> names;
  const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
  const auto add = [&](const char* kind) {
    for (const grpc::string_ref& name : peer->FindPropertyValues(kind)) {
      names.emplace_back(name.data(), name.size());
    }
  };
  if (peer == nullptr || !peer->IsPeerAuthenticated()) return names;
  for (const char* kind :
       {GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME,
        GRPC_PEER_EMAIL_PROPERTY_NAME}) {
    add(kind);
  }
  if (names.empty()) add(GRPC_X509_CN_PROPERTY_NAME);
  return names;
}

}  // namespace

absl::string_view MetadataValue(const grpc::ServerContext& context,
                                absl::string_view key) {
  const auto& metadata = context.client_metadata();
  if (metadata.count(KeyOf(key)) != 1) return {};
  const grpc::string_ref value = metadata.find(KeyOf(key))->second;
  return {value.data(), value.size()};
}

int AttemptsBefore(const grpc::ServerContext& context) {
  int attempts = 0;
  const absl::string_view said =
      MetadataValue(context, "grpc-previous-rpc-attempts");
  return absl::SimpleAtoi(said, &attempts) ? std::max(attempts, 0) : 0;
}

absl::Time DeadlineOf(const grpc::ServerContext& context, const Clock& clock) {
  return clock.Now() + (absl::FromChrono(context.deadline()) - absl::Now());
}

TraceHeaders TraceHeadersOf(const grpc::ServerContext& context) {
  TraceHeaders headers;
  headers.traceparent = MetadataValue(context, kTraceparentKey);
  if (headers.traceparent.empty()) return headers;
  const auto [begin, end] =
      context.client_metadata().equal_range(KeyOf(kTracestateKey));
  for (auto it = begin; it != end; ++it) {
    JoinTracestate(absl::string_view(it->second.data(), it->second.size()),
                   headers.tracestate);
  }
  return headers;
}

CallerProof ProofOf(const grpc::ServerContext& context) {
  CallerProof proof;
  proof.authorization = Authorization(context);
  // A key counts before them.
  if (!proof.authorization) proof.certificate_names = CertificateNames(context);
  return proof;
}

absl::string_view HostOf(absl::string_view peer) {
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace attend
