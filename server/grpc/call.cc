#include "server/grpc/call.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/grpc/grpc_status.h"
#include "server/scheduler/clock.h"
#include "server/service/request_id.h"

namespace attend {
namespace {

// "ipv4:10.0.0.1" of "ipv4:10.0.0.1:50051"; the others end in their port, too.
absl::string_view HostOf(absl::string_view peer) {
  return peer.substr(0, peer.rfind(':'));
}

// gRPC gives a deadline by the system's clock, which may be set afterwards.
absl::Time DeadlineOf(const grpc::ServerContext& grpc, const Clock& clock) {
  return clock.Now() + (absl::FromChrono(grpc.deadline()) - absl::Now());
}

// The value of a key that the client sent once; else empty.
absl::string_view ValueOf(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
    const char* key) {
  if (metadata.count(key) != 1) return {};
  const grpc::string_ref value = metadata.find(key)->second;
  return {value.data(), value.size()};
}

// Of the metadata `authorization`; see CallerProof.
std::optional<absl::string_view> Authorization(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  constexpr char kKey[] = "authorization";
  if (metadata.count(kKey) == 0) return std::nullopt;
  return ValueOf(metadata, kKey);
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

void Call::Ask(RawService& service, int method, RpcEnvironment& environment,
               EventLoop& loop) {
  auto* call = new Call(service, method, environment, loop);
  service.Ask(method, call->grpc_, call->stream_, *loop.queue(),
              static_cast<Event*>(&call->accepted_));
}

Call::Call(RawService& service, int method, RpcEnvironment& environment,
           EventLoop& loop)
    : LiveCalls::Entry(environment.live_calls),
      ServiceCall(service.method(method), environment.calls),
      service_(service),
      method_(method),
      environment_(environment),
      loop_(loop),
      stream_(&grpc_) {
  grpc_.AsyncNotifyWhenDone(static_cast<Event*>(&done_));
}

void Call::OnAccepted(bool ok) {
  if (!ok) {  // the server shuts down; no other event will come
    delete this;
    return;
  }
  Ask(service_, method_, environment_, loop_);
  done_pending_ = true;
  const auto& metadata = grpc_.client_metadata();
  const std::string peer = grpc_.peer();
  reading_ = Begin(ValueOf(metadata, kRequestIdKey),
                   DeadlineOf(grpc_, environment_.calls.service.clock),
                   {.host = HostOf(peer), .proof = Proof()});
  grpc_.AddInitialMetadata(kRequestIdKey, request_id());
  if (reading_) {
    stream_.Read(&bytes_, static_cast<Event*>(&read_));
  } else {
    Advance();
  }
}

CallerProof Call::Proof() const {
  CallerProof proof;
  if (!needs_proof()) return proof;
  proof.authorization = Authorization(grpc_.client_metadata());
  // A key counts before them.
  if (!proof.authorization) proof.certificate_names = CertificateNames(grpc_);
  return proof;
}

void Call::OnRead(bool ok) {
  reading_ = false;
  if (ok) {
    answered_.emplace(environment_.answered_calls);
    Start();
  } else {  // or the client has gone, which the done event tells
    Refuse(absl::InvalidArgumentError("the call ends without a request"));
  }
  Advance();
}

// The call has ended: the server finished it, or the client has gone.
void Call::OnDoneEvent(bool) {
  done_pending_ = false;
  if (grpc_.IsCancelled()) {
    gone_ = true;
    cancelled_ = true;
  }
  Advance();
}

void Call::OnWritten(bool ok) {
  writing_ = false;
  loop_.Unwatch(*this);
  if (!ok) gone_ = true;
  if (gone_) cancelled_ = true;
  Advance();
}

void Call::OnWatch(absl::Time now) {
  if (!writing_ || slow_ ||
      now - write_began_ < environment_.slow_reader_timeout) {
    return;
  }
  slow_ = true;
  metrics().OnSlowReader();
  grpc_.TryCancel();  // the write and the call come to their end by events
}

// Does what can be done now. Destroys the call if nothing is left to come.
void Call::Advance() {
  if (reading_) return;
  const bool starts = starting();
  if (!starts && !writing_ && !end_ && !gone_) {
    Answer(*this);
    if (answer_ || end_) Write();
  }
  if (starts || writing_ || done_pending_ || !quiet()) return;
  if (loop_.IsWoken(*this)) return;
  Report({end_.value_or(absl::OkStatus()), gone_, slow_});
  delete this;
}

// An answer that cannot be sent is the end of the call.
void Call::Send(const google::protobuf::Message& answer) {
  absl::StatusOr<grpc::ByteBuffer> bytes = ToBytes(answer);
  if (bytes.ok()) {
    answer_ = *std::move(bytes);
  } else {
    cancelled_ = true;
    Finish(bytes.status());
  }
}

// Writes one message at a time. Output that comes meanwhile goes into the next
// message.
void Call::Write() {
  writing_ = true;
  write_began_ = SteadyNow();
  loop_.Watch(*this);
  const std::optional<grpc::ByteBuffer> answer =
      std::exchange(answer_, std::nullopt);
  if (!end_) return stream_.Write(*answer, written_tag());
  const grpc::Status status = ToGrpcStatus(*end_);
  if (answer) {
    stream_.WriteAndFinish(*answer, {}, status, written_tag());
  } else {
    AddRetryPushback(*end_, grpc_);
    stream_.Finish(status, written_tag());
  }
}

}  // namespace attend
