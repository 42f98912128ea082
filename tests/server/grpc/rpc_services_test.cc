// The services beside ours: health and reflection.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "server/scheduler/step_health.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// Messages of services that Debian has no headers for, as bytes.
class RawStream {
 public:
  RawStream(RpcFixture& fixture, const std::string& method,
            const std::string& message)
      : stub_(fixture.NewChannel({})) {
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    EXPECT_TRUE(Next());
    grpc::Slice slice(message);
    call_->WriteLast(grpc::ByteBuffer(&slice, 1), {}, this);
    EXPECT_TRUE(Next());
  }
  ~RawStream() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, this);
    Next();
    queue_.Shutdown();
    while (Next()) {
    }
  }
  std::string Read() {
    grpc::ByteBuffer buffer;
    call_->Read(&buffer, this);
    if (!Next()) return "(end)";
    grpc::Slice slice;
    EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
    return std::string(reinterpret_cast<const char*>(slice.begin()),
                       slice.size());
  }

 private:
  bool Next() {
    void* tag;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// HealthCheckRequest and HealthCheckResponse of grpc.health.v1.
std::string HealthRequest(const std::string& service) {
  return absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())),
                      service);
}
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

TEST(RpcServicesTest, HealthIsWatchedOverallAndByName) {
  RpcFixture fixture;
  for (const char* name : {"", "fake", "attend.v1.Attend"}) {
    EXPECT_EQ(
        RawStream(fixture, "/grpc.health.v1.Health/Check", HealthRequest(name))
            .Read(),
        kServing);
  }
  EXPECT_EQ(
      RawStream(fixture, "/grpc.health.v1.Health/Check", HealthRequest("other"))
          .Read(),
      "(end)");
  RawStream watch(fixture, "/grpc.health.v1.Health/Watch",
                  HealthRequest("fake"));
  EXPECT_EQ(watch.Read(), kServing);
  fixture.server->SetServing(false);
  EXPECT_EQ(watch.Read(), kNotServing);
}

TEST(RpcServicesTest, HealthIsOfEachModel) {
  RpcFixtureOptions options;
  options.more_engines.resize(1);
  options.more_engines[0].info.name = "second";
  options.broken = {{"broken", absl::NotFoundError("no config.json")}};
  RpcFixture fixture(options);
  for (const auto& [name, answer] :
       {std::pair("", kServing), std::pair("fake", kServing),
        std::pair("second", kServing), std::pair("broken", kNotServing)}) {
    EXPECT_EQ(
        RawStream(fixture, "/grpc.health.v1.Health/Check", HealthRequest(name))
            .Read(),
        answer)
        << name;
  }
}

std::string HealthOf(RpcFixture& fixture, const std::string& name) {
  return RawStream(fixture, "/grpc.health.v1.Health/Check", HealthRequest(name))
      .Read();
}

TEST(RpcServicesTest, AModelWhoseStepsFailIsNotServingUntilOneSucceeds) {
  ManualClock clock;
  RpcFixtureOptions options;
  options.clock = &clock;
  options.more_engines.resize(1);
  options.more_engines[0].info.name = "second";
  RpcFixture fixture(options);
  const auto step = [&](const char* model, bool succeeds) {
    FakeEngine& engine =
        model == std::string("fake") ? fixture.engine : *fixture.engines[1];
    if (!succeeds) engine.FailNextStep(absl::InternalError("broken"));
    grpc::ClientContext context;
    v1::GenerateRequest request = MakeRequest({"a"}, 1);
    request.set_model(model);
    v1::GenerateResponse response;
    EXPECT_EQ(fixture.stub->Generate(&context, request, &response).ok(),
              succeeds);
    fixture.server->SetServing(true);  // as the program does each second
  };
  RawStream watch(fixture, "/grpc.health.v1.Health/Watch",
                  HealthRequest("fake"));
  EXPECT_EQ(watch.Read(), kServing);
  for (int i = 0; i < StepHealth::kFailures; ++i) step("fake", false);
  EXPECT_EQ(watch.Read(), kNotServing);
  EXPECT_THAT(fixture.metrics.Serialize(),
              HasSubstr("attend_model_ready{model=\"fake\"} 0\n"));
  // The other one serves, and so does the server.
  EXPECT_EQ(HealthOf(fixture, "second"), kServing);
  EXPECT_EQ(HealthOf(fixture, ""), kServing);
  EXPECT_TRUE(fixture.server->serving());
  for (int i = 0; i < StepHealth::kFailures; ++i) step("second", false);
  EXPECT_EQ(HealthOf(fixture, ""), kNotServing);
  EXPECT_FALSE(fixture.server->serving());
  // What comes nevertheless is computed.
  step("fake", true);
  EXPECT_EQ(watch.Read(), kServing);
  EXPECT_EQ(HealthOf(fixture, ""), kServing);
  EXPECT_EQ(HealthOf(fixture, "second"), kNotServing);
  clock.Advance(StepHealth::kPause);
  fixture.server->SetServing(true);
  EXPECT_EQ(HealthOf(fixture, "second"), kServing);
}

TEST(RpcServicesTest, ReflectionListsTheServices) {
  RpcFixture fixture;
  RawStream stream(
      fixture, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      std::string("\x3a\x00", 2));  // list_services: ""
  const std::string answer = stream.Read();
  EXPECT_THAT(answer, HasSubstr("attend.v1.Attend"));
  EXPECT_THAT(answer, HasSubstr("grpc.health.v1.Health"));
}

TEST(RpcServicesTest, ReflectionHasFewThreads) {
  RpcFixture fixture;
  RawConnection connection(fixture.server->port());
  constexpr int kCalls = 40;
  std::string calls;
  for (int i = 0; i < kCalls; ++i) {
    calls += RawConnection::Frame(
        RawConnection::kHeaders, RawConnection::kEndHeaders, 2 * i + 1,
        Headers("/grpc.reflection.v1alpha.ServerReflection/"
                "ServerReflectionInfo"));
  }
  ASSERT_TRUE(connection.Send(calls));
  // None has said anything yet, and still the last one ends.
  EXPECT_TRUE(connection.ReceiveUntil(RawConnection::Frame(
      RawConnection::kResetStream, 0, 2 * kCalls - 1, std::string(4, '\0'))));
  EXPECT_TRUE(connection.Answers());
}

}  // namespace
}  // namespace attend
