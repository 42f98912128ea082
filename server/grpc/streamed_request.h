#ifndef ATTEND_SERVER_GRPC_STREAMED_REQUEST_H_
#define ATTEND_SERVER_GRPC_STREAMED_REQUEST_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/grpc/event_loop.h"
#include "server/grpc/raw_service.h"
#include "server/grpc/rpc_environment.h"
#include "server/service/service_call.h"
#include "server/service/wake_list.h"

namespace attend {

// One request of a stream of requests: a call of its own, but for its bytes,
// which the stream reads and writes. What wakes the request wakes the stream.
// All functions run on the stream's thread. May be destroyed when over() is
// true.
class StreamedRequest final : public ServiceCall, private Responder {
 public:
  // The arguments must outlive the request.
  StreamedRequest(const Method& method, RpcEnvironment& environment,
                  EventLoop& loop, Wakeable& stream)
      : ServiceCall(method, environment.calls), loop_(loop), stream_(stream) {}

  // False: the request is refused, whatever it is.
  bool Begin(absl::string_view id, absl::Time deadline, const Caller& caller) {
    begun_ = true;
    return ServiceCall::Begin(id, deadline, caller);
  }
  bool begun() const { return begun_; }
  // After Begin(), whatever that returned: the request has come.
  void Take(grpc::ByteBuffer bytes, RequestBytes budgeted, bool accepted);
  void Cancel() { cancelled_ = true; }
  size_t size() const { return size_; }

  // The next answer, if there is one now. Not to be called after the end.
  std::optional<grpc::ByteBuffer> NextAnswer();
  // The status of the request, once it has ended.
  const std::optional<absl::Status>& end() const { return end_; }
  // Nothing of the request is left to come, and nobody uses it any more. What
  // the server cuts is still to be answered.
  bool over() { return !starting() && (end_ || cancelled_) && quiet(); }

  using ServiceCall::metrics;
  using ServiceCall::needs_proof;
  using ServiceCall::Refuse;
  using ServiceCall::Report;

 private:
  absl::Status ReadRequest(google::protobuf::Message& request) override {
    return ParseMessage(bytes_, request);
  }
  Responder& responder() override { return *this; }
  size_t request_bytes() const override { return size_; }
  void PostWake() override { loop_.Wake(stream_); }
  void FlushWakes() override { loop_.Flush(); }

  void Send(const google::protobuf::Message& answer) override;
  // The first end counts.
  void Finish(const absl::Status& status) override {
    if (!end_) end_.emplace(status);
  }

  EventLoop& loop_;
  Wakeable& stream_;
  bool begun_ = false;
  grpc::ByteBuffer bytes_;
  size_t size_ = 0;
  std::optional<grpc::ByteBuffer> answer_;
  std::optional<absl::Status> end_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_STREAMED_REQUEST_H_
