// The services beside ours: health and reflection.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <optional>
#include <string>

#include "server/grpc/health_call.h"
#include "server/reflection/methods.h"
#include "server/scheduler/step_health.h"
#include "server/tenants/key_hash.h"
#include "server/tenants/tenants.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// A call with messages as bytes.
class RawStream {
 public:
  RawStream(RpcFixture& fixture, const std::string& method,
            const std::string& message, const std::string& key = "",
            int times = 1)
      : stub_(fixture.NewChannel({})) {
    if (!key.empty()) context_.AddMetadata("authorization", "Bearer " + key);
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    EXPECT_TRUE(Next());
    grpc::Slice slice(message);
    const grpc::ByteBuffer bytes(&slice, 1);
    for (; times > 1; --times) {
      call_->Write(bytes, this);
      if (!Next()) return;
    }
    call_->WriteLast(bytes, {}, this);
    Next();  // false: the call has been refused already
  }
  ~RawStream() {
    context_.TryCancel();
    if (!finished_) Finish();
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
  grpc::Status Finish() {
    finished_ = true;
    grpc::Status status;
    call_->Finish(&status, this);
    Next();
    return status;
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
  bool finished_ = false;
};

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";

// HealthCheckRequest and HealthCheckResponse of grpc.health.v1.
std::string HealthRequest(const std::string& service) {
  return absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())),
                      service);
}
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";
constexpr char kServiceUnknown[] = "\x08\x03";

TEST(RpcServicesTest, HealthIsWatchedOverallAndByName) {
  RpcFixture fixture;
  for (const char* name : {"", "fake", "attend.v1.Attend"}) {
    EXPECT_EQ(RawStream(fixture, kCheck, HealthRequest(name)).Read(), kServing);
  }
  RawStream watch(fixture, kWatch, HealthRequest("fake"));
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
    EXPECT_EQ(RawStream(fixture, kCheck, HealthRequest(name)).Read(), answer)
        << name;
  }
}

TEST(RpcServicesTest, AnAliasIsServingIfOneOfItsTargetsIs) {
  RpcFixtureOptions options;
  options.broken = {{"broken", absl::NotFoundError("no config.json")}};
  RpcFixture fixture(options);
  const auto health = [&](const std::string& name) {
    return RawStream(fixture, kCheck, HealthRequest(name)).Read();
  };
  EXPECT_EQ(health("a"), "(end)");
  ASSERT_TRUE(fixture.models.SetAlias({"a", {{"broken"}, {"fake"}}}).ok());
  ASSERT_TRUE(fixture.models.SetAlias({"b", {{"broken"}}}).ok());
  ASSERT_TRUE(fixture.models.SetAlias({"broken", {{"fake"}}}).ok());
  fixture.server->ModelsChanged();
  EXPECT_EQ(health("a"), kServing);
  EXPECT_EQ(health("b"), kNotServing);
  EXPECT_EQ(health("broken"), kServing);
  EXPECT_TRUE(fixture.models.Remove("fake"));
  fixture.server->ModelsChanged();
  EXPECT_EQ(health("a"), kNotServing);
  fixture.engines.clear();
}

std::string HealthOf(RpcFixture& fixture, const std::string& name) {
  return RawStream(fixture, kCheck, HealthRequest(name)).Read();
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
  RawStream watch(fixture, kWatch, HealthRequest("fake"));
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

TEST(RpcServicesTest, HealthOfWhatThereIsNot) {
  RpcFixture fixture;
  const grpc::Status unknown =
      RawStream(fixture, kCheck, HealthRequest("other")).Finish();
  EXPECT_EQ(unknown.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(RawStream(fixture, kWatch, HealthRequest("other")).Read(),
            kServiceUnknown);
}

TEST(RpcServicesTest, RequestsForHealthThatAreWrong) {
  RpcFixture fixture;
  const std::string right = HealthRequest("fake");
  const grpc::Status two = RawStream(fixture, kCheck, right, "", 2).Finish();
  EXPECT_EQ(two.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(two.error_message(), "there is more than one request");
  const grpc::Status broken = RawStream(fixture, kWatch, "\x0a\xff").Finish();
  EXPECT_EQ(broken.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(broken.error_message(), HasSubstr("HealthCheckRequest"));
  std::string text = right;
  while (text.size() <= HealthCall::kMaxRequestBytes) text += right;
  const grpc::Status large = RawStream(fixture, kCheck, text).Finish();
  EXPECT_EQ(large.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(large.error_message(), HasSubstr("limit is 1024"));
}

// The head of an empty message, byte by byte: all but the last comes with the
// headers.
std::string SlowCheck(int stream) {
  return RawConnection::Frame(RawConnection::kHeaders,
                              RawConnection::kEndHeaders, stream,
                              Headers(kCheck)) +
         RawConnection::Frame(RawConnection::kData, 0, stream,
                              std::string(4, '\0'));
}
// The head of a frame that ends a stream, whatever the reason.
std::string Reset(int stream) {
  return RawConnection::Frame(RawConnection::kResetStream, 0, stream,
                              std::string(4, '\0'))
      .substr(0, 9);
}

TEST(RpcServicesTest, FewRequestsForHealthAreReadAtOnce) {
  RpcFixtureOptions options;
  options.rpc.slow_reader_timeout = absl::Hours(1);  // is not what ends them
  RpcFixture fixture(options);
  RawConnection connection(fixture.server->port());
  constexpr int kCalls = 2 * HealthCall::kMaxReading + 1;  // on two loops
  std::string calls;
  for (int i = 0; i < kCalls; ++i) calls += SlowCheck(2 * i + 1);
  ASSERT_TRUE(connection.Send(calls));
  const std::string of_any_stream = Reset(0).substr(0, 5);
  EXPECT_TRUE(connection.ReceiveUntil(of_any_stream));
  // The last one is read, and so is whoever sends all at once.
  ASSERT_TRUE(connection.Send(
      RawConnection::Frame(RawConnection::kData, RawConnection::kEndStream,
                           2 * kCalls - 1, std::string(1, '\0'))));
  EXPECT_TRUE(
      connection.ReceiveUntil(std::string("\0\0\0\0\x02", 5) + kServing));
  EXPECT_EQ(HealthOf(fixture, ""), kServing);
}

TEST(RpcServicesTest, ARequestForHealthHasToComeInTime) {
  RpcFixtureOptions options;
  options.rpc.slow_reader_timeout = absl::Milliseconds(40);
  RpcFixture fixture(options);
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(SlowCheck(1)));
  EXPECT_TRUE(connection.ReceiveUntil(Reset(1)));
  // A watcher waits for longer, though it says nothing. Its request, too, has
  // to come in time, which may take some attempts.
  std::optional<RawStream> watch;
  do {
    watch.emplace(fixture, kWatch, HealthRequest(""));
  } while (watch->Read() != kServing);
  ASSERT_TRUE(connection.Send(SlowCheck(3)));
  EXPECT_TRUE(connection.ReceiveUntil(Reset(3)));
  fixture.server->SetServing(false);
  EXPECT_EQ(watch->Read(), kNotServing);
}

// ServerReflectionRequest { list_services: "" }
const std::string kListServices("\x3a\x00", 2);

TEST(RpcServicesTest, ReflectionListsTheServices) {
  RpcFixtureOptions options;
  options.more_methods = ReflectionMethods();
  RpcFixture fixture(options);
  for (const char* version : {"v1", "v1alpha"}) {
    const std::string name =
        absl::StrCat("grpc.reflection.", version, ".ServerReflection");
    RawStream stream(fixture, absl::StrCat("/", name, "/ServerReflectionInfo"),
                     kListServices, "", 2);
    for (int i = 0; i < 2; ++i) {
      const std::string answer = stream.Read();
      EXPECT_THAT(answer, HasSubstr("attend.v1.Attend"));
      EXPECT_THAT(answer, HasSubstr("grpc.health.v1.Health"));
      EXPECT_THAT(answer, HasSubstr(name));
    }
    EXPECT_EQ(stream.Read(), "(end)");
    EXPECT_TRUE(stream.Finish().ok());
  }
}

TEST(RpcServicesTest, WithTenantsReflectionNeedsAKeyAndHealthDoesNot) {
  Metrics metrics("test", {});
  Tenants tenants(metrics);
  TenantSettings tenant;
  tenant.name = "a";
  tenant.keys = {HashKey("key")};
  tenants.Set({tenant}, absl::Now());
  RpcFixtureOptions options;
  options.tenants = &tenants;
  options.more_methods = ReflectionMethods();
  RpcFixture fixture(options);
  const std::string method =
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  EXPECT_EQ(RawStream(fixture, method, kListServices).Finish().error_code(),
            grpc::UNAUTHENTICATED);
  EXPECT_THAT(RawStream(fixture, method, kListServices, "key").Read(),
              HasSubstr("attend.v1.Attend"));
  EXPECT_EQ(HealthOf(fixture, ""), kServing);
  // Before any of its request is there.
  RawConnection connection(fixture.server->port());
  ASSERT_TRUE(connection.Send(RawConnection::Frame(RawConnection::kHeaders,
                                                   RawConnection::kEndHeaders,
                                                   1, Headers(method))));
  EXPECT_TRUE(connection.ReceiveUntil(Reset(1)));
}

}  // namespace
}  // namespace attend
