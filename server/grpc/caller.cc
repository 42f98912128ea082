#include "server/grpc/caller.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security_constants.h>
#include <grpc/support/time.h>
#include <grpcpp/security/auth_context.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/header_block.h"
#include "server/grpc/incoming_calls.h"

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
  // As gRPC has it: in std::chrono's nanoseconds, years from 2262 on overflow.
  const gpr_timespec deadline = context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    return absl::InfiniteFuture();
  }
  const gpr_timespec left =
      gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  return clock.Now() + absl::Seconds(left.tv_sec) +
         absl::Nanoseconds(left.tv_nsec);
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

absl::Status CheckEncoding(const grpc::ServerContext& context) {
  const absl::string_view unknown = MetadataValue(context, kUnknownEncodingKey);
  if (context.client_metadata().count(KeyOf(kUnknownEncodingKey)) == 0) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("grpc-encoding is \"", absl::CHexEscape(unknown),
                   "\", must be identity, gzip or deflate"));
}

std::shared_ptr<IncomingCall> IncomingCallOf(
    const grpc::ServerContext& context) {
  return IncomingCalls::OfProcess().OfNumber(
      MetadataValue(context, kIncomingCallKey));
}

void CancelWith(const absl::Status& status, grpc::ServerContext& context) {
  grpc_call_cancel_with_status(context.c_call(),
                               static_cast<grpc_status_code>(status.code()),
                               std::string(status.message()).c_str(), nullptr);
}

absl::string_view HostOf(absl::string_view peer) {
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace attend
