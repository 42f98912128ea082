// Models that come and go while calls run.

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Gone = std::shared_ptr<std::atomic<bool>>;
Gone NotYet() { return std::make_shared<std::atomic<bool>>(false); }

// Tells when it goes.
class MortalEngine final : public Engine {
 public:
  MortalEngine(FakeEngineOptions options, Gone gone)
      : engine_(std::move(options)), gone_(std::move(gone)) {}
  ~MortalEngine() override { *gone_ = true; }

  FakeEngine& fake() { return engine_; }
  const ModelInfo& info() const override { return engine_.info(); }
  std::unique_ptr<EngineContext> NewContext() const override {
    return engine_.NewContext();
  }
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override {
    return engine_.NewSequence(std::move(request));
  }

 private:
  FakeEngine engine_;
  const Gone gone_;
};

// Steps that take their time until they may hurry.
class Brake {
 public:
  void Release() { *released_ = true; }
  std::function<void(const StepPlan&)> on_step() const {
    return [released = released_](const StepPlan&) {
      if (!*released) absl::SleepFor(absl::Milliseconds(1));
    };
  }

 private:
  const Gone released_ = NotYet();
};

// Runs for seconds under a brake.
constexpr int kManyTokens = 4000;

// A server with the model "fake", and "m" in versions that come and go.
class RpcModelChangesTest : public ::testing::Test {
 protected:
  RpcModelChangesTest() { fixture_.models.StartFreeing(); }

  FakeEngine& Load(int64_t version, const Gone& gone,
                   std::function<void(const StepPlan&)> on_step = nullptr) {
    FakeEngineOptions options;
    options.info.name = "m";
    options.on_step = std::move(on_step);
    auto engine = std::make_unique<MortalEngine>(std::move(options), gone);
    FakeEngine& fake = engine->fake();
    fixture_.models.Add("m",
                        Model{.engine = std::move(engine),
                              .tokenizer = std::make_unique<FakeTokenizer>()},
                        version);
    return fake;
  }
  static v1::GenerateRequest Request(int tokens = 4) {
    v1::GenerateRequest request = MakeRequest({"abc"}, tokens);
    request.set_model("m");
    return request;
  }
  grpc::Status Generate() {
    grpc::ClientContext context;
    v1::GenerateResponse response;
    return fixture_.stub->Generate(&context, Request(), &response);
  }
  std::string Metrics() { return fixture_.metrics.Serialize(); }

  RpcFixture fixture_;
};

TEST_F(RpcModelChangesTest, TheOldOneServesItsCallsAndThenItsMemoryGoesBack) {
  const Gone first_gone = NotYet(), second_gone = NotYet();
  Brake brake;
  Load(1, first_gone, brake.on_step());
  grpc::ClientContext context;
  auto stream = fixture_.stub->GenerateStream(&context, Request(kManyTokens));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(stream->Read(&chunk));
  int ids = chunk.ids_size();
  EXPECT_THAT(Metrics(), HasSubstr("model=\"m\",version=\"1\"} 1"));

  const FakeEngine& second = Load(2, second_gone);
  EXPECT_THAT(Metrics(), HasSubstr("model=\"m\",version=\"2\"} 1"));
  EXPECT_THAT(Metrics(), Not(HasSubstr("model=\"m\",version=\"1\"} 1")));
  EXPECT_TRUE(Generate().ok());
  EXPECT_GT(second.steps(), 0);
  // The gauges are those of the new one, which is idle.
  EXPECT_TRUE(WaitUntil([&] {
    return Metrics().find("attend_running_sequences{model=\"m\"} 0") !=
           std::string::npos;
  }));
  EXPECT_FALSE(*first_gone);

  brake.Release();
  while (stream->Read(&chunk)) ids += chunk.ids_size();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(ids, kManyTokens);
  EXPECT_TRUE(WaitUntil([&] { return first_gone->load(); }));
  EXPECT_FALSE(*second_gone);
  // The counts are those of the name.
  EXPECT_THAT(Metrics(),
              HasSubstr("attend_generated_tokens_total{model=\"m\"} 4004"));
}

TEST_F(RpcModelChangesTest, ARemovedModelEndsWithItsLastCall) {
  const Gone gone = NotYet();
  Brake brake;
  Load(1, gone, brake.on_step());
  grpc::ClientContext context;
  auto stream = fixture_.stub->GenerateStream(&context, Request(kManyTokens));
  v1::GenerateChunk chunk;
  ASSERT_TRUE(stream->Read(&chunk));
  EXPECT_TRUE(fixture_.models.Remove("m"));
  EXPECT_FALSE(fixture_.models.Remove("m"));
  const grpc::Status refused = Generate();
  EXPECT_EQ(refused.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(refused.error_message(),
            "model 'm' is not served, the models are: 'fake'");
  EXPECT_THAT(Metrics(), Not(HasSubstr("attend_model_ready{model=\"m\"}")));
  EXPECT_THAT(Metrics(), HasSubstr("attend_running_sequences{model=\"m\"} 1"));
  EXPECT_FALSE(*gone);
  brake.Release();
  while (stream->Read(&chunk)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(WaitUntil([&] { return gone->load(); }));
  // Its series go with it.
  EXPECT_TRUE(
      WaitUntil([&] { return Metrics().find("\"m\"") == std::string::npos; }));
}

TEST_F(RpcModelChangesTest, TheDefaultModelIsNoOtherWhenItIsGone) {
  fixture_.models.Remove("fake");
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture_.stub->Generate(&context, MakeRequest({"abc"}, 1), &response);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status.error_message(),
            "the default model is not served, the models are: none");
  fixture_.engines.clear();
}

TEST_F(RpcModelChangesTest, NoCallFailsWhileVersionsChange) {
  std::vector<Gone> gone = {NotYet()};
  Load(1, gone[0]);
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&] {
      const auto stub = fixture_.NewStub({});
      while (!stop) {
        const StreamResult result = ReadStream(*stub, Request());
        failed += !result.status.ok() || result.chunks.empty();
        ++calls;
      }
    });
  }
  for (int version = 2; version <= 20; ++version) {
    const int before = calls;
    EXPECT_TRUE(WaitUntil([&] { return calls > before + 4; }));
    gone.push_back(NotYet());
    Load(version, gone.back());
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  for (size_t i = 0; i + 1 < gone.size(); ++i) {
    EXPECT_TRUE(WaitUntil([&] { return gone[i]->load(); })) << i;
  }
  EXPECT_FALSE(*gone.back());
}

}  // namespace
}  // namespace attend
