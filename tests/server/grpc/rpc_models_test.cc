// Several models in one server.

#include <gmock/gmock.h>

#include <string>

#include "tests/server/grpc/rpc_fixture.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FakeEngineOptions EngineOf(const std::string& name) {
  FakeEngineOptions options;
  options.info.name = name;
  return options;
}

RpcFixtureOptions ThreeModels() {
  RpcFixtureOptions options;
  options.engine = EngineOf("one");
  options.more_engines = {EngineOf("two")};
  options.more_engines[0].info.max_beams = 3;
  options.broken = {
      {"three", absl::InvalidArgumentError("config.json: no \"d_model\"\n")}};
  return options;
}

v1::GenerateRequest RequestOf(const std::string& model, int tokens = 3) {
  v1::GenerateRequest request = MakeRequest({"abc"}, tokens);
  request.set_model(model);
  return request;
}

TEST(RpcModelsTest, EachAnswersByItsNameAndTheFirstByDefault) {
  RpcFixture fixture(ThreeModels());
  for (const auto& [name, index] :
       {std::pair("", 0), std::pair("one", 0), std::pair("two", 1)}) {
    const int64_t before = fixture.engines[index]->steps();
    const int64_t other = fixture.engines[1 - index]->steps();
    grpc::ClientContext context;
    v1::GenerateResponse response;
    const grpc::Status status =
        fixture.stub->Generate(&context, RequestOf(name), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.model(), index == 0 ? "one" : "two");
    EXPECT_EQ(response.results(0).choices(0).ids_size(), 3);
    EXPECT_GT(fixture.engines[index]->steps(), before);
    EXPECT_EQ(fixture.engines[1 - index]->steps(), other);
  }
}

TEST(RpcModelsTest, EveryMethodFindsItsModel) {
  RpcFixture fixture(ThreeModels());
  {
    grpc::ClientContext context;
    v1::ScoreRequest request;
    request.set_model("two");
    request.add_pairs()->mutable_source()->set_text("a");
    request.mutable_pairs(0)->mutable_target()->set_text("b");
    v1::ScoreResponse response;
    ASSERT_TRUE(fixture.stub->Score(&context, request, &response).ok());
    EXPECT_EQ(response.model(), "two");
  }
  {
    grpc::ClientContext context;
    v1::TokenizeRequest request;
    request.set_model("two");
    request.add_texts("a");
    v1::TokenizeResponse response;
    ASSERT_TRUE(fixture.stub->Tokenize(&context, request, &response).ok());
    EXPECT_EQ(response.model(), "two");
  }
  {
    grpc::ClientContext context;
    v1::DetokenizeRequest request;
    request.set_model("two");
    request.add_sequences()->add_ids(98);
    v1::DetokenizeResponse response;
    ASSERT_TRUE(fixture.stub->Detokenize(&context, request, &response).ok());
    EXPECT_EQ(response.model(), "two");
  }
  const StreamResult stream = ReadStream(*fixture.stub, RequestOf("two"));
  EXPECT_TRUE(stream.status.ok());
  EXPECT_GT(fixture.engines[1]->steps(), 0);
  EXPECT_EQ(fixture.engine.steps(), 0);
}

TEST(RpcModelsTest, LimitsAreThoseOfTheModel) {
  RpcFixture fixture(ThreeModels());
  for (const auto& [name, code] :
       {std::pair("one", grpc::OK), std::pair("two", grpc::INVALID_ARGUMENT)}) {
    v1::GenerateRequest request = RequestOf(name);
    request.mutable_params()->set_num_beams(4);
    grpc::ClientContext context;
    v1::GenerateResponse response;
    EXPECT_EQ(fixture.stub->Generate(&context, request, &response).error_code(),
              code);
  }
}

TEST(RpcModelsTest, ABrokenOneSaysWhyAndTheOthersServe) {
  RpcFixture fixture(ThreeModels());
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, RequestOf("three"), &response);
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(status.error_message(),
            "model 'three' could not be loaded: config.json: no \"d_model\"?");
  EXPECT_EQ(ReadStream(*fixture.stub, RequestOf("three")).status.error_code(),
            grpc::UNAVAILABLE);
  EXPECT_TRUE(ReadStream(*fixture.stub, RequestOf("two")).status.ok());
}

TEST(RpcModelsTest, AnUnknownNameIsToldThoseThatServe) {
  RpcFixture fixture(ThreeModels());
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, RequestOf("four"), &response);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status.error_message(),
            "model 'four' is not served, the models are: 'one', 'two'");
}

TEST(RpcModelsTest, AllAreListedTheDefaultFirst) {
  RpcFixture fixture(ThreeModels());
  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(fixture.stub->ListModels(&context, {}, &models).ok());
  ASSERT_EQ(models.models_size(), 3);
  const char* names[] = {"one", "two", "three"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(models.models(i).name(), names[i]);
    EXPECT_EQ(models.models(i).ready(), i < 2);
    v1::GetModelRequest request;
    request.set_name(names[i]);
    grpc::ClientContext get;
    v1::Model model;
    ASSERT_TRUE(fixture.stub->GetModel(&get, request, &model).ok());
    EXPECT_EQ(model.SerializeAsString(), models.models(i).SerializeAsString());
  }
  EXPECT_EQ(models.models(1).max_beams(), 3);
  EXPECT_EQ(models.models(1).error(), "");
  EXPECT_THAT(models.models(2).error(), HasSubstr("d_model"));
}

TEST(RpcModelsTest, MetricsAreByModel) {
  RpcFixture fixture(ThreeModels());
  for (const char* name : {"two", "two", "three", "four"}) {
    grpc::ClientContext context;
    v1::GenerateResponse response;
    fixture.stub->Generate(&context, RequestOf(name), &response);
  }
  fixture.server->Shutdown(absl::Seconds(60));  // all calls are counted
  const std::string text = fixture.metrics.Serialize();
  const auto calls = [](const std::string& code, const std::string& model,
                        int count) {
    return HasSubstr(absl::StrCat("attend_requests_total{code=\"", code,
                                  "\",method=\"Generate\",model=\"", model,
                                  "\"} ", count, "\n"));
  };
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("method=\"Generate\",model=\"one\"")),
                    calls("OK", "two", 2), calls("UNAVAILABLE", "three", 1),
                    calls("NOT_FOUND", "", 1)));
  EXPECT_THAT(
      text, AllOf(HasSubstr("attend_generated_tokens_total{model=\"one\"} 0\n"),
                  HasSubstr("attend_generated_tokens_total{model=\"two\"} 6\n"),
                  HasSubstr("attend_model_ready{model=\"two\"} 1\n"),
                  HasSubstr("attend_model_ready{model=\"three\"} 0\n")));
}

TEST(RpcModelsTest, QueuesAreByModel) {
  RpcFixtureOptions options = ThreeModels();
  options.engine.allowed_steps = 0;
  options.scheduler.max_queued_requests = 1;
  options.scheduler.max_running = 1;
  RpcFixture fixture(options);
  grpc::ClientContext context;
  // The first one stands at the gate and holds the machine, the second waits.
  auto reader = fixture.stub->GenerateStream(&context, RequestOf("one"));
  fixture.engine.WaitUntilBlocked();
  grpc::ClientContext second;
  auto waiting = fixture.stub->GenerateStream(&second, RequestOf("one"));
  while (fixture.engine.live_sequences() < 2) std::this_thread::yield();
  grpc::ClientContext third;
  v1::GenerateResponse response;
  EXPECT_EQ(
      fixture.stub->Generate(&third, RequestOf("one"), &response).error_code(),
      grpc::RESOURCE_EXHAUSTED);
  // The other model's queue has room; it computes once the machine is free.
  grpc::ClientContext other;
  auto accepted = fixture.stub->GenerateStream(&other, RequestOf("two"));
  while (fixture.engines[1]->live_sequences() == 0) std::this_thread::yield();
  EXPECT_EQ(fixture.engines[1]->steps(), 0);
  fixture.engine.OpenGate();
  for (auto* stream : {&reader, &waiting, &accepted}) {
    v1::GenerateChunk chunk;
    while ((*stream)->Read(&chunk)) {
    }
    EXPECT_TRUE((*stream)->Finish().ok());
  }
}

TEST(RpcModelsTest, ADrainWaitsForAllModels) {
  RpcFixtureOptions options = ThreeModels();
  options.more_engines[0].allowed_steps = 0;
  RpcFixture fixture(options);
  grpc::ClientContext context;
  auto reader = fixture.stub->GenerateStream(&context, RequestOf("two"));
  fixture.engines[1]->WaitUntilBlocked();
  fixture.calls->Drain();
  EXPECT_FALSE(fixture.calls->WaitUntilIdle(absl::ZeroDuration()));
  fixture.engines[1]->OpenGate();
  v1::GenerateChunk chunk;
  while (reader->Read(&chunk)) {
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(fixture.calls->WaitUntilIdle(absl::Seconds(60)));
}

}  // namespace
}  // namespace attend
