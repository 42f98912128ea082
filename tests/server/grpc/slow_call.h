#ifndef ATTEND_TESTS_SERVER_GRPC_SLOW_CALL_H_
#define ATTEND_TESTS_SERVER_GRPC_SLOW_CALL_H_

#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "attend/v1/attend.pb.h"
#include "server/grpc/raw_service.h"
#include "tests/server/grpc/rpc_fixture.h"

namespace attend {

// A call of a client that sends and reads what the test says, and when.
class SlowCall {
 public:
  explicit SlowCall(RpcFixture& fixture, const std::string& authorization = "",
                    const std::string& method = "Generate")
      : stub_(fixture.NewChannel(SmallWindow())) {
    if (!authorization.empty()) {
      context_.AddMetadata("authorization", authorization);
    }
    // A server that waits for the request fails the test, and does not hold it.
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::minutes(2));
    call_ =
        stub_.PrepareCall(&context_, "/attend.v1.Attend/" + method, &queue_);
    call_->StartCall(this);
    EXPECT_TRUE(Next());
  }
  ~SlowCall() {
    queue_.Shutdown();
    while (Any()) {
    }
  }

  bool Send(const google::protobuf::Message& request) {
    const grpc::ByteBuffer bytes = ToBytes(request).value();
    call_->Write(bytes, this);
    return Next();
  }
  void SendNoMore() {
    call_->WritesDone(this);
    Next();
  }
  // The answer, if there is one.
  template <class Answer = v1::GenerateResponse>
  std::optional<Answer> Receive() {
    grpc::ByteBuffer bytes;
    call_->Read(&bytes, this);
    Answer response;
    if (!Next() || !ParseMessage(bytes, response).ok()) return std::nullopt;
    return response;
  }
  grpc::Status Finish() {
    grpc::Status status;
    call_->Finish(&status, this);
    EXPECT_TRUE(Next());
    return status;
  }

 private:
  // What is not read soon fills it.
  static grpc::ChannelArguments SmallWindow() {
    grpc::ChannelArguments small;
    small.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
    small.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    return small;
  }
  bool Next() {
    bool ok = false;
    void* tag;
    return queue_.Next(&tag, &ok) && ok;
  }
  bool Any() {
    bool ok;
    void* tag;
    return queue_.Next(&tag, &ok);
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_SLOW_CALL_H_
