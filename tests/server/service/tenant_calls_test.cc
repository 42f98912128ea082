// Calls that need keys.

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "absl/strings/cord.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/taken_spans.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

const CallerProof kKey = {.authorization = "Bearer key"};

class TenantCallsTest : public ServiceFixture {
 protected:
  // The tenant "a", whose key is "key", and a model that nobody could load.
  void BuildFor(TenantSettings tenant, const FixtureOptions& options = {}) {
    tenant.name = "a";
    tenant.keys = {HashKey("key")};
    tenants_.Set({tenant}, clock_.Now());
    service_.tenants = &tenants_;
    Build(options);
  }
  absl::Status Call(const std::string& method,
                    const google::protobuf::Message& request,
                    const CallerProof& proof = kKey) {
    LocalCall call = NewCall(method, request, proof);
    call.Run();
    return call.end().value_or(absl::CancelledError(""));
  }
  double Counted(const std::string& series) {
    const std::string text = metrics_.Serialize();
    const size_t at = text.find("\n" + series + " ");
    return at == std::string::npos
               ? 0
               : std::stod(text.substr(at + series.size() + 2));
  }

  Tenants tenants_{metrics_};
};

TEST_F(TenantCallsTest, NeedAKey) {
  BuildFor({});
  const v1::GenerateRequest request = Generate("abc", 3);
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
  EXPECT_EQ(Call("Generate", request, {}).code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Call("ListModels", v1::ListModelsRequest(),
                 {.authorization = "Bearer other"})
                .code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Counted("attend_tenant_requests_total{code=\"OK\",tenant=\"a\"}"),
            1);
  EXPECT_EQ(Counted("attend_requests_total{code=\"UNAUTHENTICATED\",method="
                    "\"Generate\",model=\"\"}"),
            1);
  // "abc" and an end, and what followed.
  EXPECT_EQ(Counted("attend_tenant_source_tokens_total{tenant=\"a\"}"), 4);
  EXPECT_EQ(Counted("attend_tenant_generated_tokens_total{tenant=\"a\"}"), 3);
  // A forced prefix is computed, too.
  v1::GenerateRequest forced = request;
  forced.mutable_params()->mutable_prefix_tokens()->mutable_ids()->Add(7);
  EXPECT_EQ(Call("Generate", forced), absl::OkStatus());
  EXPECT_EQ(Counted("attend_tenant_source_tokens_total{tenant=\"a\"}"), 9);
}

TEST_F(TenantCallsTest, WithoutAKeyNothingIsRecordedOfACall) {
  Tracer tracer({}, {.delay = absl::Milliseconds(1)}, metrics_.spans(), 1);
  service_.tracer = &tracer;
  BuildFor({});
  const v1::ListModelsRequest request;
  EXPECT_EQ(Call("ListModels", request, {}).code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Call("ListModels", request), absl::OkStatus());
  tracer.queue().Close();
  const std::vector<Span> spans = TakenSpans(tracer.queue());
  ASSERT_FALSE(spans.empty());
  for (const Span& span : spans) EXPECT_EQ(span.error, "");
  EXPECT_EQ(std::count_if(spans.begin(), spans.end(),
                          [](const Span& span) { return span.is_call; }),
            1);
}

TEST_F(TenantCallsTest, SeeTheirModelsOnly) {
  AddBroken("hidden", absl::InternalError("broken"));
  TenantSettings tenant;
  tenant.models = {"fake"};
  BuildFor(tenant);
  v1::GenerateRequest request = Generate("abc", 1);
  request.set_model("fake");
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
  // The default is none of them.
  request.clear_model();
  EXPECT_EQ(Call("Generate", request),
            absl::NotFoundError("the default model is not served, the models "
                                "are: 'fake'"));
  // One that is there, and one that is not: nothing but the name differs.
  for (const std::string name : {"hidden", "hidden@2", "none", "none@2"}) {
    const absl::Status refused = absl::NotFoundError(absl::StrCat(
        "model '", name, "' is not served, the models are: 'fake'"));
    v1::GetModelRequest get;
    get.set_name(name);
    EXPECT_EQ(Call("GetModel", get), refused);
    v1::TokenizeRequest tokenize;
    tokenize.set_model(name);
    EXPECT_EQ(Call("Tokenize", tokenize), refused);
  }
  const v1::ListModelsRequest all;
  LocalCall list = NewCall("ListModels", all, kKey);
  list.Run();
  const auto answers = list.answers<v1::ListModelsResponse>();
  ASSERT_EQ(answers.size(), 1);
  ASSERT_EQ(answers[0].models_size(), 1);
  EXPECT_EQ(answers[0].models(0).name(), "fake");
  EXPECT_EQ(Counted("attend_tenant_refused_total{reason=\"model\",tenant="
                    "\"a\"}"),
            9);
}

TEST_F(TenantCallsTest, WaitForTheirRateOfCalls) {
  TenantSettings tenant;
  tenant.calls = RateLimit{.per_second = 0.5, .burst = 1};
  BuildFor(tenant);
  const v1::GenerateRequest request = Generate("abc", 1);
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
  const absl::Status refused = Call("Generate", request);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.GetPayload(kRetryAfterUrl), absl::Cord("2s"));
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
  EXPECT_EQ(
      Counted("attend_rejected_total{model=\"\",reason=\"tenant_limit\"}"), 1);
}

TEST_F(TenantCallsTest, WaitInTheQueueAsFarAsTheyMay) {
  TenantSettings tenant;
  tenant.max_queued_inputs = 1;
  FixtureOptions options;
  options.engine.allowed_steps = 1;
  BuildFor(tenant, options);
  const v1::GenerateRequest request = Generate("abc", 3);
  LocalCall running = NewCall("Generate", request, kKey);
  std::thread client([&] { running.Run(); });
  engine_->WaitUntilBlocked();
  LocalCall waiting = NewCall("Generate", request, kKey);
  waiting.Submit();
  // One tokenizer thread: this one comes to the queue after that.
  const absl::Status refused = Call("Generate", request);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(refused.GetPayload(kRetryAfterUrl).has_value());
  EXPECT_EQ(Counted("attend_tenant_refused_total{reason=\"queued_inputs\","
                    "tenant=\"a\"}"),
            1);
  EXPECT_EQ(
      Counted("attend_rejected_total{model=\"fake\",reason=\"tenant_limit\"}"),
      1);
  engine_->OpenGate();
  waiting.Await();
  client.join();
  EXPECT_EQ(waiting.end(), absl::OkStatus());
}

TEST_F(TenantCallsTest, HaveNoMorePriorityThanTheyMay) {
  TenantSettings tenant;
  tenant.max_priority = 3;
  std::vector<const Sequence*> steps;
  FixtureOptions options;
  options.scheduler.max_running = 1;
  options.engine.allowed_steps = 1;
  options.engine.on_step = [&](const StepPlan& plan) {
    for (const Piece& piece : plan.pieces) steps.push_back(piece.sequence);
  };
  BuildFor(tenant, options);
  v1::GenerateRequest first = Generate("abc", 3), second = Generate("abc", 9);
  first.set_priority(3);
  second.set_priority(10);
  LocalCall running = NewCall("Generate", first, kKey);
  running.Submit();
  engine_->WaitUntilBlocked();
  // Two that wait, of equal priority: in their order.
  LocalCall earlier = NewCall("Generate", first, kKey);
  LocalCall later = NewCall("Generate", second, kKey);
  earlier.Submit();
  later.Submit();
  EXPECT_TRUE(WaitUntil([&] { return engine_->live_sequences() == 3; }));
  engine_->OpenGate();
  for (LocalCall* call : {&running, &earlier, &later}) call->Await();
  ASSERT_GT(steps.size(), 9u);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), steps.back()),
            std::count(steps.begin(), steps.end(), steps.front()) + 6);
}

TEST_F(TenantCallsTest, WaitForTheTokensOfThoseBefore) {
  TenantSettings tenant;
  tenant.tokens = RateLimit{.per_second = 10, .burst = 5};
  BuildFor(tenant);
  v1::GenerateRequest request = Generate("abc", 3);
  request.add_inputs()->set_text("abc");
  // 14 tokens: what has begun is not cut.
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
  const absl::Status refused = Call("Generate", request);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.GetPayload(kRetryAfterUrl), absl::Cord("1s"));
  EXPECT_EQ(
      Counted("attend_rejected_total{model=\"fake\",reason=\"tenant_limit\"}"),
      1);
  // What computes nothing costs none.
  EXPECT_EQ(Call("ListModels", v1::ListModelsRequest()), absl::OkStatus());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Call("Generate", request), absl::OkStatus());
}

}  // namespace
}  // namespace attend
