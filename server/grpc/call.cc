#include "server/grpc/call.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/caller.h"
#include "server/grpc/grpc_status.h"
#include "server/scheduler/clock.h"
#include "server/service/request_id.h"

namespace attend {

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
  const std::string peer = grpc_.peer();
  reading_ = Begin(MetadataValue(grpc_, kRequestIdKey),
                   DeadlineOf(grpc_, environment_.calls.service.clock),
                   {.host = HostOf(peer),
                    .proof = needs_proof() ? ProofOf(grpc_) : CallerProof(),
                    .trace = TraceHeadersOf(grpc_),
                    .attempts_before = AttemptsBefore(grpc_)});
  if (reading_) {
    absl::Status refused = Accept();
    reading_ = refused.ok();
    if (!reading_) Refuse(std::move(refused));
  }
  if (reading_) {
    stream_.Read(&bytes_, static_cast<Event*>(&read_));
  } else {
    Advance();
  }
}

absl::Status Call::Accept() {
  RETURN_IF_ERROR(CheckEncoding(grpc_));
  incoming_ = IncomingCallOf(grpc_);
  if (incoming_ == nullptr) return absl::OkStatus();
  return incoming_->Accept({.budget = environment_.calls.requests,
                            .tenant = tenant().id,
                            .cut = [this] {
                              cut_ = true;
                              loop_.Wake(*this);
                              loop_.Flush();
                            }});
}

void Call::OnWake() {
  // The call comes to its end by events.
  if (cut_.exchange(false)) CancelWith(incoming_->RefuseCut(), grpc_);
  Advance();
}

void Call::OnRead(bool ok) {
  reading_ = false;
  absl::StatusOr<RequestBytes> bytes = RequestBytes();
  if (ok && incoming_ != nullptr) {
    bytes = incoming_->TakeMessage(bytes_.Length());
  }
  if (ok && bytes.ok()) {
    answered_.emplace(environment_.answered_calls);
    Start(*std::move(bytes));
  } else if (ok) {
    Refuse(bytes.status());
  } else {  // or the client has gone, which the done event tells
    environment_.EndsUnread();
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
  if (!ok && unread_ && unread_->was_cut() && !std::exchange(slow_, true)) {
    metrics().OnSlowReader();
  }
  unread_.reset();
  if (!ok) gone_ = true;
  if (gone_) cancelled_ = true;
  Advance();
}

void Call::OnWatch(absl::Time now) {
  if (!writing_ || slow_ || now - write_began_ < time_to_read_) return;
  slow_ = true;
  metrics().OnSlowReader();
  grpc_.TryCancel();  // the write and the call come to their end by events
}

// Does what can be done now. Destroys the call if nothing is left to come.
void Call::Advance() {
  if (reading_) return;
  const bool starts = starting();
  if (!starts && !writing_ && !ended_ && !gone_) {
    if (!end_) Answer();
    if (answer_ || end_) Write();
  }
  if (starts || writing_ || done_pending_ || !quiet()) return;
  if (incoming_ != nullptr) incoming_->Leave();  // nobody wakes it any more
  if (loop_.IsWoken(*this)) return;
  const absl::Status refusal =
      incoming_ == nullptr ? absl::OkStatus() : incoming_->refusal();
  if (gone_ && !refusal.ok()) {
    Report({.status = refusal});
  } else {
    Report({end_.value_or(absl::OkStatus()), gone_, slow_});
  }
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
  const size_t bytes = answer ? answer->Length() : 0;
  time_to_read_ = environment_.TimeToRead(bytes);
  if (bytes > 0) {
    unread_.emplace(environment_.calls.unread, tenant().id, bytes,
                    [this] { grpc_.TryCancel(); });
  }
  if (!std::exchange(begun_, true)) {
    AddRequestId(request_id(), answer ? absl::OkStatus() : *end_, grpc_);
  }
  if (!end_) return stream_.Write(*answer, written_tag());
  ended_ = true;
  const grpc::Status status = ToGrpcStatus(*end_);
  if (answer) {
    stream_.WriteAndFinish(*answer, {}, status, written_tag());
  } else {
    AddRetryPushback(*end_, grpc_);
    stream_.Finish(status, written_tag());
  }
}

}  // namespace attend
