// Calls of a server that drains: every call that was let in is computed whole.

#include <gmock/gmock.h>

#include <latch>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using DrainTest = ServiceFixture;

constexpr absl::Duration kLong = absl::Minutes(2);

// One input runs; the others wait for it, as no step is allowed yet.
FixtureOptions OneAtATime() {
  FixtureOptions options;
  options.engine.allowed_steps = 0;
  options.scheduler.max_running = 1;
  return options;
}

TEST_F(DrainTest, InputsThatWaitAreComputed) {
  Build(OneAtATime());
  v1::GenerateRequest request;
  for (int i = 0; i < 8; ++i) request.add_inputs()->set_text("ab");
  request.mutable_params()->set_max_new_tokens(3);
  LocalCall batch = NewCall("Generate", request);
  batch.Submit();
  engine_->WaitUntilBlocked();
  environment_->Drain();
  LocalCall late = NewCall("Generate", request);
  EXPECT_FALSE(late.Begin());
  EXPECT_FALSE(environment_->WaitUntilIdle(absl::ZeroDuration()));
  engine_->OpenGate();
  batch.Await();
  EXPECT_EQ(batch.end(), absl::OkStatus());
  const auto answers = batch.answers<v1::GenerateResponse>();
  ASSERT_EQ(answers.size(), 1);
  ASSERT_EQ(answers[0].results_size(), 8);
  for (const v1::GenerateResult& result : answers[0].results()) {
    EXPECT_EQ(result.status().code(), 0);
    EXPECT_EQ(result.choices(0).ids_size(), 3);
  }
}

// The engine gets no more than max_batch_inputs sentences at a time.
TEST_F(DrainTest, ADocumentIsTranslatedToItsEnd) {
  service_.max_batch_inputs = 2;
  Build(OneAtATime());
  v1::TranslateRequest request;
  std::string& document = *request.add_documents();
  for (int i = 0; i < 30; ++i) absl::StrAppend(&document, "A dog runs. ");
  LocalCall call = NewCall("Translate", request);
  call.Submit();
  engine_->WaitUntilBlocked();
  environment_->Drain();
  engine_->OpenGate();
  call.Await();
  ASSERT_EQ(call.end(), absl::OkStatus());
  const auto answers = call.answers<v1::TranslateResponse>();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].results(0).status().code(), 0);
  EXPECT_EQ(answers[0].results(0).sentences_size(), 30);
}

// The only tokenizer thread is busy until the drain has begun.
TEST_F(DrainTest, CallsThatWaitToBeTokenisedAreComputed) {
  Build({});
  std::latch draining(1);
  ASSERT_TRUE(environment_->pool.Submit({}, 1, [&] { draining.wait(); }).ok());
  const v1::GenerateRequest request = Generate("abc", 3);
  {
    LocalCall call = NewCall("Generate", request);
    call.Submit();
    environment_->Drain();
    EXPECT_FALSE(environment_->WaitUntilIdle(absl::ZeroDuration()));
    draining.count_down();
    call.Await();
    EXPECT_EQ(call.end(), absl::OkStatus());
    EXPECT_EQ(call.answers<v1::GenerateResponse>().size(), 1);
  }
  EXPECT_TRUE(environment_->WaitUntilIdle(kLong));
}

// As its headers came before the drain, and its message only then.
TEST_F(DrainTest, ACallWhoseRequestComesLaterIsNew) {
  Build({});
  const v1::GenerateRequest request = Generate("abc", 3);
  LocalCall call = NewCall("Generate", request);
  ASSERT_TRUE(call.Begin());
  environment_->Drain();
  call.Start();
  EXPECT_TRUE(environment_->WaitUntilIdle(absl::ZeroDuration()));
  call.Await();
  ASSERT_TRUE(call.end().has_value());
  EXPECT_EQ(call.end()->code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace attend
