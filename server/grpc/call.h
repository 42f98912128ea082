#ifndef ATTEND_SERVER_GRPC_CALL_H_
#define ATTEND_SERVER_GRPC_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/live_calls.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/work_pool.h"
#include "server/service/handler.h"
#include "server/service/request_id.h"
#include "server/service/service.h"

namespace attend {

// What all calls of a server share. Outlives them.
struct CallEnvironment {
  const Service& service;
  const Lifecycle& lifecycle;
  WorkPool& pool;
  RawService& grpc_service;
  LiveCalls& live_calls;  // also those that are only asked for
  LiveCalls& answered_calls;
  absl::Duration slow_reader_timeout;
};

// How a method is told apart: its messages, whether it streams, how it is
// asked for and what works behind it.
template <class RequestT, class ResponseT, bool kIsStream>
struct MethodTraits {
  using Request = RequestT;
  using Response = ResponseT;
  static constexpr bool kStream = kIsStream;
  using Responder =
      std::conditional_t<kStream, grpc::ServerAsyncWriter<grpc::ByteBuffer>,
                         grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>>;
  using Ask = void (RawService::*)(grpc::ServerContext*, grpc::ByteBuffer*,
                                   Responder*, grpc::CompletionQueue*,
                                   grpc::ServerCompletionQueue*, void*);

  Method method;
  Ask ask;
  HandlerPtr<Request, Response> (*make)(const Service&, CallContext&);
};

// The life of one RPC, for every method: asked for, accepted, started on a
// tokenizer thread, answered message by message, finished. A unary call is a
// stream of one message.
//
// Lives on one loop: all of it runs on that loop's thread, but for Start() of
// the handler and the wake-ups, which change what mutex_ guards. Owns itself,
// and goes when nothing can come any more: no event of gRPC, no start, no
// output, no wake-up.
template <class Traits>
class Call final : public CallContext, public Wakeable {
 public:
  // Asks for the next call of this method.
  static void Ask(const Traits& traits, CallEnvironment& environment,
                  EventLoop& loop) {
    auto* call = new Call(traits, environment, loop);
    (environment.grpc_service.*traits.ask)(
        &call->grpc_, &call->bytes_, &call->responder_, loop.queue(),
        loop.queue(), static_cast<Event*>(&call->accepted_));
  }

 private:
  // An event of this call: which member it runs.
  struct Step : Event {
    Step(Call& owner, void (Call::*method)(bool))
        : call(owner), member(method) {}
    void Run(bool ok) override { (call.*member)(ok); }
    Call& call;
    void (Call::*member)(bool);
  };

  Call(const Traits& traits, CallEnvironment& environment, EventLoop& loop)
      : CallContext(environment.lifecycle),
        live_(environment.live_calls),
        traits_(traits),
        environment_(environment),
        loop_(loop),
        responder_(&grpc_) {
    grpc_.AsyncNotifyWhenDone(static_cast<Event*>(&done_));
  }

  void WakeAfterStep() override {
    if (starting_) {
      woken_early_ = true;
    } else {
      loop_.Wake(*this);
    }
  }

  void OnAccepted(bool ok) {
    if (!ok) {  // the server shuts down; no other event will come
      delete this;
      return;
    }
    answered_.emplace(environment_.answered_calls);
    Ask(traits_, environment_, loop_);
    const auto& metadata = grpc_.client_metadata();
    const auto id = metadata.find(kRequestIdKey);
    request_id_ = ChooseRequestId(
        id == metadata.end()
            ? absl::string_view()
            : absl::string_view(id->second.data(), id->second.size()));
    arrival_ = environment_.service.clock.Now();
    deadline_ = absl::FromChrono(grpc_.deadline());
    grpc_.AddInitialMetadata(kRequestIdKey, request_id_);
    done_pending_ = true;
    handler_ = traits_.make(environment_.service, *this);
    Start();
    Advance();
  }

  void Start() {
    absl::Status refused;
    if (lifecycle_.draining) {
      metrics().OnRejected(RejectReason::kDraining);
      refused = absl::UnavailableError("server is draining");
    } else {
      starting_ = true;
      refused = environment_.pool.Submit([this] { RunStart(); });
      if (refused.ok()) return;
      metrics().OnRejected(RejectReason::kTokenizerFull);
      refused.SetPayload(kRetryAfterUrl, absl::Cord("1s"));
      starting_ = false;
    }
    start_status_ = refused;
    failed_to_start_ = true;
  }

  // On a tokenizer thread.
  void RunStart() {
    absl::Status status = cancelled() ? absl::CancelledError("cancelled")
                                      : ParseMessage(bytes_, request_);
    if (status.ok()) status = handler_->Start(request_);
    // Mostly the engine has it now, and there is nothing to say: whoever
    // changes that wakes.
    const bool quiet = !status.ok() || handler_->quiet();
    std::lock_guard lock(mutex_);
    failed_to_start_ = !status.ok();
    start_status_ = std::move(status);
    starting_ = false;
    if (!quiet && !woken_early_) return;
    loop_.Wake(*this);
    loop_.Flush();
  }

  void OnWake() override { Advance(); }

  // The call has ended, by us or by the client.
  void OnDoneEvent(bool) {
    done_pending_ = false;
    if (grpc_.IsCancelled()) {
      gone_ = true;
      cancelled_ = true;
    }
    Advance();
  }

  void OnWritten(bool ok) {
    writing_ = false;
    loop_.Unwatch(*this);
    if (!ok) gone_ = true;
    if (gone_) cancelled_ = true;
    Advance();
  }

  void OnWatch(absl::Time now) override {
    if (!writing_ || slow_ ||
        now - write_began_ < environment_.slow_reader_timeout) {
      return;
    }
    slow_ = true;
    metrics().OnSlowReader();
    grpc_.TryCancel();  // the write and the call come to their end by events
  }

  // Does what can be done next; then goes if nothing is left.
  void Advance() {
    bool starting;
    {
      std::lock_guard lock(mutex_);
      starting = starting_;
    }
    if (!starting && !writing_ && !finished_ && !gone_) Answer();
    if (starting || writing_ || done_pending_) return;
    if (!failed_to_start_ && !handler_->quiet()) return;
    if (loop_.IsWoken(*this)) return;
    Report();
    delete this;
  }

  void Answer() {
    if (failed_to_start_) return Finish(start_status_);
    typename Traits::Response response;
    if (handler_->Next(response)) {
      Write(response);
    } else if (handler_->ended()) {
      Finish(handler_->status());
    }
  }

  // One write at a time; what comes meanwhile merges into the next one.
  void Write(const typename Traits::Response& response) {
    const grpc::ByteBuffer bytes = ToBytes(response);
    finished_ = handler_->ended();
    BeginWrite();
    if constexpr (Traits::kStream) {
      if (finished_) {
        responder_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status::OK,
                                  written_tag());
      } else {
        responder_.Write(bytes, written_tag());
      }
    } else {
      responder_.Finish(bytes, grpc::Status::OK, written_tag());
    }
  }

  void Finish(const absl::Status& status) {
    finished_ = true;
    status_ = status;
    AddRetryPushback(status, grpc_);
    BeginWrite();
    if constexpr (Traits::kStream) {
      responder_.Finish(ToGrpcStatus(status), written_tag());
    } else {
      responder_.FinishWithError(ToGrpcStatus(status), written_tag());
    }
  }

  void BeginWrite() {
    writing_ = true;
    write_began_ = absl::Now();
    loop_.Watch(*this);
  }

  // Not while the handler starts.
  CallMetrics& metrics() const {
    return model_ == nullptr ? environment_.service.other_calls : model_->calls;
  }

  void* written_tag() { return static_cast<Event*>(&written_); }

  // What became of the call, once.
  void Report() {
    const absl::Time now = environment_.service.clock.Now();
    if (gone_) {
      status_ = now >= deadline_ ? absl::DeadlineExceededError("")
                                 : absl::CancelledError("");
    }
    const absl::Duration duration = now - arrival_;
    metrics().OnCall(traits_.method, status_.code(), duration);
    if (absl::IsInternal(status_)) {
      environment_.service.log.Write(
          LogLevel::kError, "call_failed",
          {{"id", request_id_}, {"error", status_.message()}});
    }
    const CallSummary summary =
        failed_to_start_ ? CallSummary() : handler_->summary();
    environment_.service.log.Write(
        LogLevel::kInfo, "call",
        {{"id", request_id_},
         {"model", model_ == nullptr ? "" : model_->name},
         {"method", MethodName(traits_.method)},
         {"code", absl::StatusCodeToString(status_.code())},
         {"seconds", duration},
         {"inputs", summary.inputs},
         {"failed_inputs", summary.failed_inputs},
         {"source_tokens", summary.source_tokens},
         {"generated_tokens", summary.generated_tokens},
         {"slow_reader", static_cast<int>(slow_)}});
  }

  const LiveCalls::Entry live_;               // first: goes last
  std::optional<LiveCalls::Entry> answered_;  // from its acceptance on
  const Traits& traits_;
  CallEnvironment& environment_;
  EventLoop& loop_;

  grpc::ServerContext grpc_;
  grpc::ByteBuffer bytes_;
  typename Traits::Request request_;  // parsed from bytes_
  typename Traits::Responder responder_;
  HandlerPtr<typename Traits::Request, typename Traits::Response> handler_;

  Step accepted_{*this, &Call::OnAccepted};
  Step done_{*this, &Call::OnDoneEvent};
  Step written_{*this, &Call::OnWritten};

  bool done_pending_ = false;  // the done event is still to come
  bool writing_ = false;       // a write or a finish is under way
  bool finished_ = false;      // the last one has begun
  bool gone_ = false;          // nobody is left to answer
  bool slow_ = false;          // we cancelled it: the client does not read
  absl::Time write_began_;
  absl::Status status_;  // that the call ended with

  bool starting_ = false;         // guarded by mutex_
  bool woken_early_ = false;      // while starting; guarded by mutex_
  bool failed_to_start_ = false;  // with start_status_; constant once started
  absl::Status start_status_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CALL_H_
