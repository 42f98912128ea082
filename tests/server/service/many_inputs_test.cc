// Calls of thousands of inputs, which are computed in turns.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kInputs = 5000;

v1::EmbedRequest Embed(int inputs) {
  v1::EmbedRequest request;
  for (int i = 0; i < inputs; ++i) {
    request.add_inputs()->set_text(absl::StrCat("text ", i));
  }
  return request;
}

class ManyInputsTest : public ServiceFixture {
 protected:
  // Notes the most sequences of a step.
  void BuildCounting(FixtureOptions options) {
    options.engine.on_step = [this](const StepPlan&) {
      most_live_ = std::max(most_live_.load(), engine_->live_sequences());
    };
    Build(options);
  }
  template <class Answer>
  Answer OnlyAnswer(const LocalCall& call) {
    const auto answers = call.answers<Answer>();
    EXPECT_EQ(answers.size(), 1);
    return answers.empty() ? Answer() : answers[0];
  }

  std::atomic<int> most_live_ = 0;
};

TEST_F(ManyInputsTest, AreComputedInTurns) {
  FixtureOptions options;
  options.engine.allowed_steps = 0;
  BuildCounting(options);
  const v1::EmbedRequest request = Embed(kInputs);
  LocalCall call = NewCall("Embed", request);
  call.Submit();
  EXPECT_TRUE(WaitUntil(
      [&] { return engine_->live_sequences() == service_.max_batch_inputs; }));
  engine_->OpenGate();
  call.Await();
  ASSERT_EQ(call.end(), absl::OkStatus());
  const auto answer = OnlyAnswer<v1::EmbedResponse>(call);
  ASSERT_EQ(answer.results_size(), kInputs);
  for (const v1::EmbedResult& result : answer.results()) {
    ASSERT_EQ(result.status().code(), 0) << result.status().message();
    ASSERT_EQ(result.values_size(), 4);
  }
  EXPECT_LE(most_live_, service_.max_batch_inputs);
}

// A queue with less room than max_batch_inputs does not refuse them: they wait
// in the call.
TEST_F(ManyInputsTest, WaitWhereTheQueueIsFull) {
  FixtureOptions options;
  options.scheduler.max_queued_requests = 3;
  options.scheduler.max_running = 2;
  Build(options);
  const v1::EmbedRequest request = Embed(500);
  LocalCall call = NewCall("Embed", request);
  call.Run();
  ASSERT_EQ(call.end(), absl::OkStatus());
  const auto answer = OnlyAnswer<v1::EmbedResponse>(call);
  ASSERT_EQ(answer.results_size(), 500);
  for (const v1::EmbedResult& result : answer.results()) {
    ASSERT_EQ(result.status().code(), 0) << result.status().message();
  }
}

// Another call finds room in the queue while the inputs of a long one wait.
TEST_F(ManyInputsTest, LeaveRoomForOthers) {
  FixtureOptions options;
  options.engine.allowed_steps = 0;
  BuildCounting(options);
  const v1::EmbedRequest many = Embed(kInputs);
  const v1::EmbedRequest few = Embed(3);
  LocalCall long_call = NewCall("Embed", many);
  long_call.Submit();
  engine_->WaitUntilBlocked();
  LocalCall short_call = NewCall("Embed", few);
  short_call.Submit();
  EXPECT_TRUE(WaitUntil([&] {
    return engine_->live_sequences() == service_.max_batch_inputs + 3;
  }));
  engine_->OpenGate();
  short_call.Await();
  EXPECT_EQ(short_call.end(), absl::OkStatus());
  long_call.Await();
  EXPECT_EQ(long_call.end(), absl::OkStatus());
}

TEST_F(ManyInputsTest, EndWithTheirCall) {
  FixtureOptions options;
  options.engine.allowed_steps = 1;
  Build(options);
  const v1::EmbedRequest request = Embed(kInputs);
  LocalCall call = NewCall("Embed", request);
  call.Submit();
  engine_->WaitUntilBlocked();
  call.Cancel();
  engine_->OpenGate();
  call.Await();
  EXPECT_FALSE(call.end().has_value());
  EXPECT_LT(engine_->steps(), 20);
}

TEST_F(ManyInputsTest, TakeBoundedMemory) {
  service_.max_call_bytes = 1 << 20;  // 512 inputs without tokens
  Build({});
  v1::EmbedRequest request = Embed(513);
  LocalCall refused = NewCall("Embed", request);
  refused.Run();
  EXPECT_EQ(refused.end()->message(),
            "inputs has 513 entries, must be 1 to 512, which is what 1048576 "
            "bytes hold (max_call_bytes)");
  request = Embed(400);
  request.mutable_inputs(1)->set_text(std::string(3600, 'a'));
  LocalCall call = NewCall("Embed", request);
  call.Run();
  ASSERT_EQ(call.end(), absl::OkStatus());
  const auto answer = OnlyAnswer<v1::EmbedResponse>(call);
  EXPECT_EQ(answer.results(1).status().code(), 0);
  EXPECT_THAT(answer.results(399).status().message(),
              HasSubstr("inputs[399]: the inputs up to this one and their "
                        "results take "));
}

}  // namespace
}  // namespace attend
