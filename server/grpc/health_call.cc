#include "server/grpc/health_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "grpc/health/v1/health.pb.h"
#include "server/grpc/caller.h"
#include "server/grpc/grpc_status.h"
#include "server/scheduler/clock.h"

namespace attend {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

std::vector<Method> HealthMethods() {
  constexpr NamedHandler kMethods[] = {{"Check", nullptr}, {"Watch", nullptr}};
  return BindMethods(
      *HealthCheckRequest::descriptor()->file()->FindServiceByName("Health"),
      kMethods);
}

void HealthCall::Ask(HealthLoop& shared, int method) {
  auto* call = new HealthCall(shared, method);
  shared.service.Ask(method, call->grpc_, call->stream_, *shared.loop.queue(),
                     static_cast<Event*>(&call->accepted_));
}

HealthCall::HealthCall(HealthLoop& shared, int method)
    : LiveCalls::Entry(shared.environment.live_calls),
      shared_(shared),
      method_(method),
      watches_(shared.service.method(method).descriptor->server_streaming()),
      stream_(&grpc_) {
  grpc_.AsyncNotifyWhenDone(static_cast<Event*>(&done_));
}

HealthCall::~HealthCall() {
  shared_.loop.Unwatch(*this);
  if (incoming_ != nullptr) incoming_->Leave();
}

void HealthCall::OnAccepted(bool ok) {
  if (!ok) {  // the server shuts down; no other event will come
    delete this;
    return;
  }
  Ask(shared_, method_);
  done_pending_ = true;
  shared_.loop.Watch(*this);
  error_ = Accept();
  if (!error_.ok()) return Advance();
  std::list<HealthCall*>& reading = shared_.reading;
  if (reading.size() == kMaxReading) {
    reading.front()->grpc_.TryCancel();
    reading.pop_front();
  }
  reading.push_back(this);
  began_ = SteadyNow();
  Read();
}

absl::Status HealthCall::CheckKey() const {
  const KeyCheck& may_see = shared_.environment.calls.service.may_see_health;
  if (!may_see || may_see(ProofOf(grpc_).authorization.value_or(""))) {
    return absl::OkStatus();
  }
  constexpr absl::string_view kReason =
      "health needs a key in the metadata 'authorization': 'Bearer KEY'";
  if (watches_) return absl::UnimplementedError(kReason);
  return absl::UnauthenticatedError(kReason);
}

// What arrives before the limit holds counts as that of a tenant of its own.
absl::Status HealthCall::Accept() {
  RETURN_IF_ERROR(CheckKey());
  const absl::Status encoding = CheckEncoding(grpc_);
  if (!encoding.ok()) {
    // gRPC sends it with initial metadata only, which this answer has not.
    grpc_.AddTrailingMetadata("grpc-accept-encoding",
                              "identity, deflate, gzip");
    return encoding;
  }
  incoming_ = IncomingCallOf(grpc_);
  if (incoming_ == nullptr) return absl::OkStatus();
  return incoming_->Accept({.budget = shared_.environment.calls.requests,
                            .max_message_bytes = kMaxRequestBytes});
}

void HealthCall::Read() {
  reading_ = true;
  stream_.Read(&bytes_, static_cast<Event*>(&read_));
}

// The request is all that the client sends. What came after it would be kept
// for as long as the call lives.
void HealthCall::OnRead(bool ok) {
  reading_ = false;
  if (ok && !request_) {
    request_ = std::exchange(bytes_, {});
    return Read();
  }
  shared_.reading.remove(this);
  error_ = ok ? absl::InvalidArgumentError("there is more than one request")
              : TakeRequest();
  if (watches_) shared_.health.Add(*this);
  Advance();
}

absl::Status HealthCall::TakeRequest() {
  if (!request_) {  // or the client has gone, which the done event tells
    return absl::InvalidArgumentError("the call ends without a request");
  }
  if (request_->Length() > kMaxRequestBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("request has ", request_->Length(), " bytes, limit is ",
                     kMaxRequestBytes));
  }
  HealthCheckRequest request;
  RETURN_IF_ERROR(ParseMessage(*request_, request));
  name_ = request.service();
  return absl::OkStatus();
}

// The call has ended: the server finished it, or the client has gone.
void HealthCall::OnDoneEvent(bool) {
  done_pending_ = false;
  if (grpc_.IsCancelled()) gone_ = true;
  Advance();
}

void HealthCall::OnWritten(bool ok) {
  writing_ = false;
  if (!ok) gone_ = true;
  Advance();
}

void HealthCall::OnWatch(absl::Time now) {
  if (slow_ || !(reading_ || writing_) ||
      now - began_ < shared_.environment.slow_reader_timeout) {
    return;
  }
  slow_ = true;
  grpc_.TryCancel();  // the call comes to its end by events
}

void HealthCall::OnHealth() {
  shared_.loop.Wake(*this);
  shared_.loop.Flush();
}

// Does what can be done now. Destroys the call if nothing is left to come.
void HealthCall::Advance() {
  if (reading_) return;
  if (!writing_ && !ended_ && !gone_) Write();
  if (writing_ || done_pending_) return;
  shared_.health.Remove(*this);
  if (shared_.loop.IsWoken(*this)) return;
  delete this;
}

void HealthCall::Write() {
  if (!error_.ok()) return Finish(error_);
  const std::optional<bool> serving = shared_.health.Find(name_);
  if (!watches_ && !serving) {
    return Finish(absl::NotFoundError("there is no service of that name"));
  }
  const int status = !serving   ? HealthCheckResponse::SERVICE_UNKNOWN
                     : *serving ? HealthCheckResponse::SERVING
                                : HealthCheckResponse::NOT_SERVING;
  if (told_ != status) WriteStatus(status);
}

void HealthCall::WriteStatus(int status) {
  Begin();
  told_ = status;
  HealthCheckResponse response;
  response.set_status(static_cast<HealthCheckResponse::ServingStatus>(status));
  const grpc::ByteBuffer bytes = *ToBytes(response);
  auto* tag = static_cast<Event*>(&written_);
  if (watches_) return stream_.Write(bytes, tag);
  ended_ = true;
  stream_.WriteAndFinish(bytes, {}, grpc::Status::OK, tag);
}

void HealthCall::Finish(const absl::Status& status) {
  Begin();
  ended_ = true;
  stream_.Finish(ToGrpcStatus(status), static_cast<Event*>(&written_));
}

void HealthCall::Begin() {
  writing_ = true;
  began_ = SteadyNow();
}

}  // namespace attend
