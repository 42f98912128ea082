#ifndef ATTEND_SERVER_GRPC_REQUEST_STREAM_H_
#define ATTEND_SERVER_GRPC_REQUEST_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/incoming_call.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/rpc_environment.h"
#include "server/grpc/streamed_request.h"
#include "server/service/live_calls.h"
#include "server/service/unread_answers.h"
#include "server/service/wake_list.h"

namespace attend {

// One RPC of a method whose client streams requests. Each request is served on
// its own, many at once; their answers are written one at a time, of the
// requests in turn. A request that fails ends alone: its handler tells so in an
// answer. The call ends when the client has sent all requests and they have
// been answered, or when the server drains and nothing is left to answer.
//
// As many requests are in work as the environment says, and as have
// kMaxStreamBytes together; no more are read meanwhile, so that a client that
// sends faster has to wait.
//
// Thread and life are those of a Call.
class RequestStream final : private LiveCalls::Entry,
                            public Wakeable,
                            public Watched {
 public:
  // Of one stream. A request may be longer, alone.
  static constexpr size_t kMaxStreamBytes = 32 << 20;

  // Asks gRPC for the next call of method number `method` of `service`. The
  // arguments must outlive the call.
  static void Ask(RawService& service, int method, RpcEnvironment& environment,
                  EventLoop& loop);

 private:
  RequestStream(RawService& service, int method, RpcEnvironment& environment,
                EventLoop& loop);
  ~RequestStream() override;

  void OnAccepted(bool ok);
  void OnRead(bool ok);
  void OnDoneEvent(bool ok);
  void OnWritten(bool ok);
  void OnWake() override;
  void OnWatch(absl::Time now) override;

  // The request that is read next; it may have begun.
  StreamedRequest& Next();
  bool Begin(StreamedRequest& request);
  // OK: requests may be read. What arrives of them counts in the budget.
  absl::Status Accept();
  // Takes the request that has been read.
  void TakeRequest();
  // The requests that are in work are as many as may be.
  bool IsFull() const;
  void CancelAll();

  void Advance();
  void DropEnded();
  void Read();
  void Write();
  bool WriteOne(StreamedRequest& request);
  void WriteEnd();

  RawService& service_;
  const int method_;
  RpcEnvironment& environment_;
  EventLoop& loop_;
  // Set while requests are in work: a stream without any is not waited for.
  std::optional<LiveCalls::Entry> answered_;

  grpc::ServerContext grpc_;
  std::shared_ptr<IncomingCall> incoming_;  // null: is not followed
  std::atomic<bool> cut_{false};  // others need the memory of what arrives
  std::string peer_;
  std::string request_id_;
  CallerProof proof_;
  grpc::ByteBuffer bytes_;  // the request that is read
  MessageStream stream_;

  std::unique_ptr<StreamedRequest> next_;  // null: not made yet
  // In work; the first is the next whose answer is written.
  std::list<std::unique_ptr<StreamedRequest>> requests_;
  StreamedRequest* written_request_ = nullptr;  // whose answer is under way
  std::optional<absl::Status> end_;             // the status that ends the call

  MemberEvent<RequestStream> accepted_{*this, &RequestStream::OnAccepted};
  MemberEvent<RequestStream> read_{*this, &RequestStream::OnRead};
  MemberEvent<RequestStream> done_{*this, &RequestStream::OnDoneEvent};
  MemberEvent<RequestStream> written_{*this, &RequestStream::OnWritten};

  bool errors_end_ = true;     // the first error of a request ends the call
  bool done_pending_ = false;  // the done event is still to come
  bool reading_ = false;       // a read is under way
  bool read_all_ = false;      // the client sends no more requests
  bool writing_ = false;       // a write or the end is under way
  bool ended_ = false;         // the end has been written, or is under way
  bool gone_ = false;          // the client has gone
  bool slow_ = false;          // the server cancelled: the client did not read
  absl::Time write_began_;
  std::optional<UnreadAnswers::Entry> unread_;  // while there is an answer
  absl::Duration time_to_read_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_REQUEST_STREAM_H_
