#include "server/grpc/request_stream.h"

#include <utility>

#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/caller.h"
#include "server/grpc/grpc_status.h"
#include "server/scheduler/clock.h"
#include "server/service/request_id.h"

namespace attend {

void RequestStream::Ask(RawService& service, int method,
                        RpcEnvironment& environment, EventLoop& loop) {
  auto* stream = new RequestStream(service, method, environment, loop);
  service.Ask(method, stream->grpc_, stream->stream_, *loop.queue(),
              static_cast<Event*>(&stream->accepted_));
}

RequestStream::RequestStream(RawService& service, int method,
                             RpcEnvironment& environment, EventLoop& loop)
    : LiveCalls::Entry(environment.live_calls),
      service_(service),
      method_(method),
      environment_(environment),
      loop_(loop),
      stream_(&grpc_) {
  grpc_.AsyncNotifyWhenDone(static_cast<Event*>(&done_));
}

RequestStream::~RequestStream() { loop_.Unwatch(*this); }

// The first request begins with the headers: who may not call is told so before
// anything is read.
void RequestStream::OnAccepted(bool ok) {
  if (!ok) {  // the server shuts down; no other event will come
    delete this;
    return;
  }
  Ask(service_, method_, environment_, loop_);
  done_pending_ = true;
  loop_.Watch(*this);
  peer_ = grpc_.peer();
  if (Next().needs_proof()) proof_ = ProofOf(grpc_);
  request_id_ = std::string(MetadataValue(grpc_, kRequestIdKey));
  bool accepted = Begin(Next());
  request_id_ = Next().request_id();
  grpc_.AddInitialMetadata(kRequestIdKey, request_id_);
  if (accepted) {
    absl::Status refused = Accept();
    accepted = refused.ok();
    if (!accepted) Next().Refuse(std::move(refused));
  }
  if (accepted) {
    const absl::string_view key = service_.method(method_).error_key;
    errors_end_ = !key.empty() && MetadataValue(grpc_, key) == "true";
  } else {
    read_all_ = true;
    requests_.push_back(std::move(next_));
  }
  Advance();
}

StreamedRequest& RequestStream::Next() {
  if (next_ == nullptr) {
    next_ = std::make_unique<StreamedRequest>(service_.method(method_),
                                              environment_, loop_, *this);
  }
  return *next_;
}

bool RequestStream::Begin(StreamedRequest& request) {
  return request.Begin(
      request_id_, DeadlineOf(grpc_, environment_.calls.service.clock),
      {.host = HostOf(peer_), .proof = proof_, .trace = TraceHeadersOf(grpc_)});
}

absl::Status RequestStream::Accept() {
  RETURN_IF_ERROR(CheckEncoding(grpc_));
  incoming_ = IncomingCallOf(grpc_);
  if (incoming_ == nullptr) return absl::OkStatus();
  return incoming_->Accept({.budget = environment_.calls.requests,
                            .tenant = Next().tenant().id,
                            .cut = [this] {
                              cut_ = true;
                              loop_.Wake(*this);
                              loop_.Flush();
                            }});
}

void RequestStream::OnWake() {
  // The call comes to its end by events.
  if (cut_.exchange(false)) CancelWith(incoming_->RefuseCut(), grpc_);
  Advance();
}

void RequestStream::TakeRequest() {
  absl::StatusOr<RequestBytes> bytes = RequestBytes();
  if (incoming_ != nullptr) bytes = incoming_->TakeMessage(bytes_.Length());
  if (!bytes.ok()) {
    end_ = bytes.status();
    return;
  }
  if (!answered_) answered_.emplace(environment_.answered_calls);
  const bool accepted = Next().begun() || Begin(Next());
  next_->Take(std::exchange(bytes_, {}), *std::move(bytes), accepted);
  if (gone_) next_->Cancel();
  requests_.push_back(std::move(next_));
}

void RequestStream::OnRead(bool ok) {
  reading_ = false;
  if (ok && !end_) {
    TakeRequest();
  } else {
    if (!answered_) environment_.EndsUnread();
    read_all_ = true;  // or the client has gone, which the done event tells
  }
  Advance();
}

// The call has ended: the server finished it, or the client has gone.
void RequestStream::OnDoneEvent(bool) {
  done_pending_ = false;
  if (grpc_.IsCancelled()) gone_ = true;
  if (gone_) CancelAll();
  Advance();
}

void RequestStream::OnWritten(bool ok) {
  writing_ = false;
  if (!ok && unread_ && unread_->was_cut() && !std::exchange(slow_, true)) {
    written_request_->metrics().OnSlowReader();
  }
  unread_.reset();
  written_request_ = nullptr;
  if (!ok) gone_ = true;
  if (gone_) CancelAll();
  Advance();
}

void RequestStream::OnWatch(absl::Time now) {
  if (writing_ && !slow_ && now - write_began_ >= time_to_read_) {
    slow_ = true;
    if (written_request_ != nullptr) written_request_->metrics().OnSlowReader();
    grpc_.TryCancel();  // the write and the call come to their end by events
  }
  if (!environment_.calls.lifecycle.draining || !requests_.empty()) return;
  if (writing_ || gone_ || ended_) return;
  end_ = absl::UnavailableError("server is draining");
  WriteEnd();
}

void RequestStream::CancelAll() {
  for (const auto& request : requests_) request->Cancel();
}

// Does what can be done now. Destroys the stream if nothing is left to come.
void RequestStream::Advance() {
  DropEnded();
  if (!writing_ && !gone_ && !ended_) Write();
  Read();
  if (reading_ || writing_ || done_pending_ || !requests_.empty()) return;
  if (incoming_ != nullptr) incoming_->Leave();  // nobody wakes it any more
  if (loop_.IsWoken(*this)) return;
  delete this;
}

void RequestStream::DropEnded() {
  requests_.remove_if([this](const std::unique_ptr<StreamedRequest>& request) {
    if (request.get() == written_request_ || !request->over()) return false;
    request->Report({request->end().value_or(absl::OkStatus()),
                     gone_ || !request->end(), slow_});
    return true;
  });
  if (requests_.empty()) answered_.reset();
}

void RequestStream::Read() {
  if (reading_ || read_all_ || gone_ || end_ || IsFull()) return;
  reading_ = true;
  stream_.Read(&bytes_, static_cast<Event*>(&read_));
}

bool RequestStream::IsFull() const {
  size_t bytes = 0;
  for (const auto& request : requests_) bytes += request->size();
  return bytes >= kMaxStreamBytes ||
         static_cast<int>(requests_.size()) >= environment_.max_stream_requests;
}

// Writes the next answer of the first request that has one, which is then the
// last in turn; without any, perhaps the end.
void RequestStream::Write() {
  for (auto at = requests_.begin(); at != requests_.end(); ++at) {
    if (end_ || (*at)->end() || !WriteOne(**at)) continue;
    requests_.splice(requests_.end(), requests_, at);
    return;
  }
  DropEnded();
  if (end_ || (read_all_ && requests_.empty())) WriteEnd();
}

// False: the request has no answer now, or none that is written. An error that
// no answer tells ends the call: there was no memory for one.
bool RequestStream::WriteOne(StreamedRequest& request) {
  const std::optional<grpc::ByteBuffer> answer = request.NextAnswer();
  const bool failed = request.end() && !request.end()->ok();
  if (failed && (errors_end_ || !answer)) {
    end_ = request.end();
    return false;
  }
  if (!answer) return false;
  writing_ = true;
  write_began_ = SteadyNow();
  written_request_ = &request;
  time_to_read_ = environment_.TimeToRead(answer->Length());
  unread_.emplace(environment_.calls.unread, request.tenant().id,
                  answer->Length(), [this] { grpc_.TryCancel(); });
  stream_.Write(*answer, static_cast<Event*>(&written_));
  return true;
}

void RequestStream::WriteEnd() {
  CancelAll();
  ended_ = true;
  writing_ = true;
  write_began_ = SteadyNow();
  time_to_read_ = environment_.TimeToRead(0);
  const absl::Status status = end_.value_or(absl::OkStatus());
  AddRetryPushback(status, grpc_);
  stream_.Finish(ToGrpcStatus(status), static_cast<Event*>(&written_));
}

}  // namespace attend
