// ModelStreamInfer over the loopback: many requests on one stream.

#include "server/grpc/request_stream.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/grpc_service.grpc.pb.h"
#include "server/inference/methods.h"
#include "server/tenants/tenants.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/inference/tensors.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Part = inference::ModelStreamInferResponse;

RpcFixtureOptions WithInference() {
  RpcFixtureOptions options;
  options.more_methods = InferenceMethods();
  // The server looks after its streams four times in it.
  options.rpc.slow_reader_timeout = absl::Seconds(4);
  return options;
}

InferRequest MakeRequest(const std::string& id, const std::string& text,
                         int tokens) {
  InferRequest request = OfTexts({text});
  request.set_id(id);
  (*request.mutable_parameters())["max_new_tokens"].set_int64_param(tokens);
  return request;
}

// A client of one stream. Any of its functions may be called by one thread.
class Stream {
 public:
  explicit Stream(RpcFixture& fixture, const std::string& key = "",
                  const std::string& value = "",
                  const grpc::ChannelArguments& arguments = {})
      : stub_(inference::GRPCInferenceService::NewStub(
            fixture.NewChannel(arguments))) {
    if (!key.empty()) context_.AddMetadata(key, value);
    // A server that does not answer fails the test, and does not hold it.
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::minutes(2));
    stream_ = stub_->ModelStreamInfer(&context_);
  }

  void Send(const InferRequest& request) { EXPECT_TRUE(Offer(request)); }
  // False: the server has ended the stream.
  bool Offer(const InferRequest& request) { return stream_->Write(request); }
  // The next response; none: the stream has ended.
  std::optional<Part> Read() {
    Part part;
    if (!stream_->Read(&part)) return std::nullopt;
    return part;
  }
  // The text of each request, by id, until all of them have ended. An error is
  // its text.
  std::map<std::string, std::string> ReadAll(int requests) {
    std::map<std::string, std::string> texts;
    while (requests > 0) {
      const std::optional<Part> part = Read();
      if (!part) {
        ADD_FAILURE() << "the stream ends, " << requests << " are missing";
        break;
      }
      const InferResponse& response = part->infer_response();
      texts[response.id()] +=
          part->error_message().empty()
              ? OutputOf(response, "text_output").texts().at(0)
              : part->error_message();
      requests -=
          response.parameters().at("triton_final_response").bool_param();
    }
    return texts;
  }
  void SendNoMore() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() { return stream_->Finish(); }
  grpc::ClientContext& context() { return context_; }

 private:
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<InferRequest, Part>> stream_;
};

bool Counts(const RpcFixture& fixture, const std::string& line) {
  return fixture.metrics.Serialize().find(line) != std::string::npos;
}

TEST(RequestStreamTest, RequestsAreServedTogether) {
  RpcFixtureOptions options = WithInference();
  options.engine.allowed_steps = 20;
  RpcFixture fixture(options);
  Stream stream(fixture, "x-request-id", "mine");
  stream.Send(MakeRequest("long", "abcdefgh", 1000));
  std::optional<Part> first = stream.Read();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->infer_response().id(), "long");
  fixture.engine.WaitUntilBlocked();
  stream.Send(MakeRequest("short", "abcdefgh", 3));
  // Steps for the short one, while the long one goes on.
  ASSERT_TRUE(WaitUntil([&] { return fixture.engine.live_sequences() == 2; }));
  fixture.engine.AllowSteps(20);
  std::string text;
  bool ended = false;
  while (!ended) {
    const std::optional<Part> part = stream.Read();
    ASSERT_TRUE(part.has_value());
    const InferResponse& response = part->infer_response();
    if (response.id() == "long") {
      // The short one may have come to the engine after some of the steps.
      fixture.engine.AllowSteps(1);
      continue;
    }
    text += OutputOf(response, "text_output").texts()[0];
    ended = response.parameters().at("triton_final_response").bool_param();
  }
  EXPECT_EQ(text, "w279 w280 w281");
  fixture.engine.OpenGate();
  EXPECT_EQ(stream.ReadAll(1).size(), 1);
  stream.SendNoMore();
  EXPECT_FALSE(stream.Read().has_value());
  const grpc::Status status = stream.Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(
      stream.context().GetServerInitialMetadata().find("x-request-id")->second,
      "mine");
}

TEST(RequestStreamTest, WhatWasSentIsAnsweredAfterTheLastRequest) {
  RpcFixture fixture(WithInference());
  Stream stream(fixture);
  for (const char* id : {"a", "b", "c"}) {
    stream.Send(MakeRequest(id, "abcdefgh", 3));
  }
  stream.SendNoMore();
  EXPECT_EQ(stream.ReadAll(3),
            (std::map<std::string, std::string>{{"a", "w279 w280 w281"},
                                                {"b", "w279 w280 w281"},
                                                {"c", "w279 w280 w281"}}));
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_TRUE(stream.Finish().ok());
  fixture.server.reset();  // calls are counted when they are gone
  EXPECT_TRUE(Counts(fixture,
                     "attend_requests_total{code=\"OK\",method="
                     "\"ModelStreamInfer\",model=\"fake\"} 3"));
}

TEST(RequestStreamTest, AStreamMayBeEmpty) {
  RpcFixture fixture(WithInference());
  Stream stream(fixture);
  stream.SendNoMore();
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(RequestStreamTest, AFailedRequestLeavesTheOthers) {
  RpcFixture fixture(WithInference());
  Stream stream(fixture);
  stream.Send(MakeRequest("bad", "abc", -1));
  InferRequest unknown = MakeRequest("unknown", "abc", 1);
  unknown.set_model_name("other");
  stream.Send(unknown);
  stream.Send(MakeRequest("good", "abcdefgh", 2));
  auto texts = stream.ReadAll(3);
  EXPECT_THAT(texts["bad"], HasSubstr("max_new_tokens is -1, must be in"));
  EXPECT_THAT(texts["unknown"], HasSubstr("model 'other' is not served"));
  EXPECT_EQ(texts["good"], "w279 w280");
  stream.SendNoMore();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(RequestStreamTest, AMessageThatIsNoneLeavesTheOthers) {
  RpcFixture fixture(WithInference());
  grpc::GenericStub stub(fixture.NewChannel({}));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag;
  bool ok = false;
  const auto next = [&] { return queue.Next(&tag, &ok) && ok; };
  auto call = stub.PrepareCall(
      &context, "/inference.GRPCInferenceService/ModelStreamInfer", &queue);
  call->StartCall(&queue);
  ASSERT_TRUE(next());
  const std::string good =
      MakeRequest("good", "abcdefgh", 2).SerializeAsString();
  for (const std::string& bytes : {std::string("\xff\xff"), good}) {
    grpc::Slice slice(bytes);
    call->Write(grpc::ByteBuffer(&slice, 1), &queue);
    ASSERT_TRUE(next());
  }
  std::vector<std::string> errors;
  int finals = 0;
  while (finals < 2) {
    grpc::ByteBuffer buffer;
    call->Read(&buffer, &queue);
    ASSERT_TRUE(next());
    Part part;
    ASSERT_TRUE(ParseMessage(buffer, part).ok());
    if (!part.error_message().empty()) errors.push_back(part.error_message());
    finals += part.infer_response()
                  .parameters()
                  .at("triton_final_response")
                  .bool_param();
  }
  EXPECT_THAT(
      errors,
      ElementsAre(HasSubstr("is not a valid inference.ModelInferRequest")));
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, &queue);
  next();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
}

TEST(RequestStreamTest, AClientMayWantErrorsToEndTheStream) {
  RpcFixtureOptions options = WithInference();
  options.engine.allowed_steps = 5;
  RpcFixture fixture(options);
  Stream stream(fixture, "triton_grpc_error", "true");
  stream.Send(MakeRequest("long", "abcdefgh", 1000));
  ASSERT_TRUE(stream.Read().has_value());
  stream.Send(MakeRequest("bad", "abc", -1));
  while (stream.Read().has_value()) {
  }
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("max_new_tokens is -1"));
  fixture.engine.OpenGate();
  fixture.WaitUntilFree();
  EXPECT_LT(fixture.engine.steps(), 100);
  fixture.server.reset();
  EXPECT_TRUE(Counts(fixture,
                     "attend_requests_total{code=\"CANCELLED\",method="
                     "\"ModelStreamInfer\",model=\"fake\"} 1"));
}

TEST(RequestStreamTest, ACancelledStreamFreesItsRequests) {
  RpcFixtureOptions options = WithInference();
  options.engine.allowed_steps = 5;
  RpcFixture fixture(options);
  Stream stream(fixture);
  for (const char* id : {"a", "b", "c"}) {
    stream.Send(MakeRequest(id, "abc", 1000));
  }
  ASSERT_TRUE(stream.Read().has_value());
  ASSERT_TRUE(WaitUntil([&] { return fixture.engine.live_sequences() == 3; }));
  stream.Cancel();
  while (stream.Read().has_value()) {
  }
  EXPECT_EQ(stream.Finish().error_code(), grpc::CANCELLED);
  // A call behind it on the same connection: then the server has heard of it.
  while (fixture.engine.live_sequences() > 0) {
    grpc::ClientContext later;
    v1::ListModelsResponse response;
    ASSERT_TRUE(fixture.stub->ListModels(&later, {}, &response).ok());
    fixture.engine.AllowSteps(1);
  }
  EXPECT_LT(fixture.engine.steps(), 100);
}

TEST(RequestStreamTest, OnlySoManyRequestsAreInWork) {
  std::atomic<size_t> most{0};
  RpcFixtureOptions options = WithInference();
  options.rpc.max_stream_requests = 2;
  options.engine.allowed_steps = 3;
  options.engine.on_step = [&](const StepPlan& plan) {
    most = std::max<size_t>(most, plan.pieces.size());
  };
  RpcFixture fixture(options);
  Stream stream(fixture);
  constexpr int kRequests = 6;
  for (int i = 0; i < kRequests; ++i) {
    stream.Send(MakeRequest(absl::StrCat(i), "abcdefgh", 300));
  }
  fixture.engine.WaitUntilBlocked();
  // How many steps the first is ahead is a matter of threads.
  for (int step = 0; step < 200 && most < 2; ++step) {
    fixture.engine.AllowSteps(1);
    fixture.engine.WaitUntilBlocked();
  }
  fixture.engine.OpenGate();
  EXPECT_EQ(stream.ReadAll(kRequests).size(), kRequests);
  EXPECT_EQ(most, 2);
  stream.SendNoMore();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(RequestStreamTest, ASlowReaderIsCancelled) {
  RpcFixtureOptions options = WithInference();
  options.rpc.slow_reader_timeout = absl::Milliseconds(40);
  RpcFixture fixture(options);
  // A window that is soon full.
  grpc::ChannelArguments small;
  small.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  small.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  Stream stream(fixture, "", "", small);
  for (int i = 0; i < 100; ++i) {
    InferRequest request = MakeRequest("", "abc", 2000);
    (*request.mutable_parameters())["stream"].set_bool_param(false);
    if (!stream.Offer(request)) break;  // cancelled already
  }
  EXPECT_TRUE(WaitUntil([&] {
    return Counts(fixture, "attend_slow_readers_total{model=\"fake\"} 1");
  }));
  while (stream.Read().has_value()) {
  }
  EXPECT_EQ(stream.Finish().error_code(), grpc::CANCELLED);
  fixture.WaitUntilFree();
}

TEST(RequestStreamTest, ADrainEndsAStreamOnceItsRequestsAre) {
  RpcFixtureOptions options = WithInference();
  options.engine.allowed_steps = 3;
  RpcFixture fixture(options);
  Stream idle(fixture);
  idle.Send(MakeRequest("done", "abc", 1));
  EXPECT_EQ(idle.ReadAll(1).size(), 1);
  Stream busy(fixture);
  busy.Send(MakeRequest("running", "abcdefgh", 5));
  fixture.engine.WaitUntilBlocked();
  fixture.calls->Drain();
  busy.Send(MakeRequest("late", "abc", 5));
  std::optional<Part> part;
  do {
    part = busy.Read();
    ASSERT_TRUE(part.has_value());
  } while (part->error_message().empty());
  EXPECT_EQ(part->infer_response().id(), "late");
  EXPECT_EQ(part->error_message(), "server is draining");
  fixture.engine.OpenGate();
  EXPECT_EQ(busy.ReadAll(1).count("running"), 1);
  for (Stream* stream : {&idle, &busy}) {
    EXPECT_FALSE(stream->Read().has_value());
    const grpc::Status status = stream->Finish();
    EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
    EXPECT_EQ(status.error_message(), "server is draining");
  }
}

TEST(RequestStreamTest, WhatIsCutIsAnswered) {
  RpcFixtureOptions options = WithInference();
  options.engine.allowed_steps = 3;
  RpcFixture fixture(options);
  Stream stream(fixture);
  stream.Send(MakeRequest("cut", "abcdefgh", 1000));
  ASSERT_TRUE(stream.Read().has_value());
  fixture.engine.WaitUntilBlocked();
  fixture.calls->Cut();
  fixture.engine.OpenGate();
  EXPECT_THAT(stream.ReadAll(1)["cut"],
              HasSubstr("server shuts down: its drain timeout has passed"));
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAVAILABLE);
  fixture.server.reset();
  EXPECT_TRUE(Counts(fixture,
                     "attend_requests_total{code=\"UNAVAILABLE\",method="
                     "\"ModelStreamInfer\",model=\"fake\"} 1"));
}

// A stream without requests in work does not hold it.
TEST(RequestStreamTest, AnIdleStreamDoesNotHoldTheServer) {
  RpcFixtureOptions options = WithInference();
  options.rpc.slow_reader_timeout = absl::Hours(1);
  RpcFixture fixture(options);
  Stream stream(fixture);
  stream.Send(MakeRequest("done", "abc", 1));
  EXPECT_EQ(stream.ReadAll(1).size(), 1);
  fixture.server->Shutdown(absl::Hours(1));  // returns
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_FALSE(stream.Finish().ok());
}

// A server with a tenant of the key "key", which may call twice in a year.
class RequestStreamTenantTest : public ::testing::Test {
 protected:
  RequestStreamTenantTest() {
    TenantSettings tenant;
    tenant.name = "a";
    tenant.keys = {HashKey("key")};
    tenant.calls = RateLimit{.per_second = 1e-7, .burst = 2};
    tenants_.Set({tenant}, absl::Now());
    RpcFixtureOptions options = WithInference();
    options.tenants = &tenants_;
    fixture_.emplace(options);
  }

  Metrics metrics_{"test", {}};
  Tenants tenants_{metrics_};
  std::optional<RpcFixture> fixture_;
};

TEST_F(RequestStreamTenantTest, WhoMayNotCallIsToldSoAtTheHeaders) {
  Stream stream(*fixture_, "authorization", "Bearer other");
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAUTHENTICATED);
}

// Each request is a call. Who is refused then may go on with the stream.
TEST_F(RequestStreamTenantTest, EachRequestCounts) {
  Stream stream(*fixture_, "authorization", "Bearer key");
  for (const char* id : {"a", "b", "c"}) {
    stream.Send(MakeRequest(id, "abcdefgh", 1));
  }
  auto texts = stream.ReadAll(3);
  EXPECT_EQ(texts["a"], "w279");
  EXPECT_EQ(texts["b"], "w279");
  EXPECT_THAT(texts["c"], HasSubstr("calls"));
  // A key that was taken back does not wait for the end of a stream.
  tenants_.Set({}, absl::Now());
  stream.Send(MakeRequest("d", "abcdefgh", 1));
  EXPECT_THAT(stream.ReadAll(1)["d"], HasSubstr("key"));
  stream.SendNoMore();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(RequestStreamTest, TheServiceHasItsHealth) {
  RpcFixture fixture(WithInference());
  EXPECT_TRUE(fixture.server->alive());
  grpc::GenericStub stub(fixture.NewChannel({}));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  // HealthCheckRequest{service = "inference.GRPCInferenceService"}
  const std::string name = "inference.GRPCInferenceService";
  const std::string message = absl::StrCat(
      "\x0a", std::string(1, static_cast<char>(name.size())), name);
  grpc::Slice slice(message);
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                    grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, &queue);
  void* tag;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice bytes;
  ASSERT_TRUE(answer.DumpToSingleSlice(&bytes).ok());
  // {status = SERVING}
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size()),
      "\x08\x01");
}

}  // namespace
}  // namespace attend
