#ifndef ATTEND_SERVER_GRPC_CALL_H_
#define ATTEND_SERVER_GRPC_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/incoming_call.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/rpc_environment.h"
#include "server/service/live_calls.h"
#include "server/service/service_call.h"
#include "server/service/unread_answers.h"

namespace attend {

// One RPC of any method whose client sends one request. Its life: asked for,
// accepted when its headers have come, read, answered message by message,
// finished. A unary call is a stream of one message. A call that is refused for
// its headers is finished unread: who may not call takes no memory for a
// message.
//
// A call belongs to one loop, and the loop's thread is the call's thread. A
// call owns itself. A call destroys itself when nothing more can come: no event
// of gRPC, no end of Start(), no output, no wake-up.
class Call final : private LiveCalls::Entry,  // first base: destroyed last
                   public ServiceCall,
                   public Wakeable,
                   public Watched,
                   private Responder {
 public:
  // Asks gRPC for the next call of method number `method` of `service`. The
  // arguments must outlive the call.
  static void Ask(RawService& service, int method, RpcEnvironment& environment,
                  EventLoop& loop);

 private:
  Call(RawService& service, int method, RpcEnvironment& environment,
       EventLoop& loop);

  void OnAccepted(bool ok);
  void OnRead(bool ok);
  void OnDoneEvent(bool ok);
  void OnWritten(bool ok);
  void OnWake() override;
  void OnWatch(absl::Time now) override;

  absl::Status ReadRequest(google::protobuf::Message& request) override {
    return ParseMessage(bytes_, request);
  }
  Responder& responder() override { return *this; }
  size_t request_bytes() const override { return bytes_.Length(); }
  void PostWake() override { loop_.Wake(*this); }
  void FlushWakes() override { loop_.Flush(); }

  void Send(const google::protobuf::Message& answer) override;
  // The first end counts.
  void Finish(const absl::Status& status) override {
    if (!end_) end_.emplace(status);
  }

  // OK: the request may be read. What arrives of it counts in the budget.
  absl::Status Accept();
  void Advance();
  void Write();
  void* written_tag() { return static_cast<Event*>(&written_); }

  RawService& service_;
  const int method_;
  RpcEnvironment& environment_;
  EventLoop& loop_;
  std::optional<LiveCalls::Entry> answered_;  // set when read

  grpc::ServerContext grpc_;
  std::shared_ptr<IncomingCall> incoming_;  // null: is not followed
  std::atomic<bool> cut_{false};  // others need the memory of the request
  grpc::ByteBuffer bytes_;        // the request
  MessageStream stream_;
  // While the call starts, a tokenizer thread may set both.
  std::optional<grpc::ByteBuffer> answer_;  // to be written
  std::optional<absl::Status> end_;         // the status that ends the call

  MemberEvent<Call> accepted_{*this, &Call::OnAccepted};
  MemberEvent<Call> read_{*this, &Call::OnRead};
  MemberEvent<Call> done_{*this, &Call::OnDoneEvent};
  MemberEvent<Call> written_{*this, &Call::OnWritten};

  bool done_pending_ = false;  // the done event is still to come
  bool reading_ = false;       // the request is still to come
  bool writing_ = false;       // a write or a finish is under way
  bool gone_ = false;          // the client has gone
  bool begun_ = false;         // the first write has been handed to gRPC
  bool ended_ = false;         // the end has been handed to gRPC
  bool slow_ = false;          // the server cancelled: the client did not read
  absl::Time write_began_;
  std::optional<UnreadAnswers::Entry> unread_;  // while there is an answer
  absl::Duration time_to_read_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CALL_H_
