#include "server/scheduler/scheduler.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/turns.h"
#include "tests/server/scheduler/recording_listener.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SchedulerOptionsTest, Validate) {
  EXPECT_TRUE(SchedulerOptions().Validate().ok());
  SchedulerOptions options;
  options.max_running = 0;
  EXPECT_THAT(options.Validate().message(),
              HasSubstr("max_running is 0, must be at least 1"));
  options = {};
  options.aging = absl::ZeroDuration();
  EXPECT_EQ(options.Validate().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SchedulerTest, RunsARequestAndFillsItsTimes) {
  ManualClock clock;
  FakeEngine engine({.on_step = [&](const StepPlan&) {
    clock.Advance(absl::Milliseconds(10));
  }});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener listener;
  const absl::Time start = clock.Now();
  auto request = MakeRequest(engine, listener, FakeTask{.tokens = 3});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  EXPECT_EQ(request, nullptr);
  EXPECT_TRUE(listener.Wait().ok());
  ExpectTokens(listener, {.tokens = 3});
  EXPECT_EQ(listener.tokens_, 3);
  // One step encodes, three decode.
  EXPECT_EQ(listener.times_.arrival, start);
  EXPECT_EQ(listener.times_.started, start);
  EXPECT_EQ(listener.times_.encoded, start + absl::Milliseconds(10));
  EXPECT_EQ(listener.times_.first_token, start + absl::Milliseconds(20));
  EXPECT_EQ(listener.times_.ended, start + absl::Milliseconds(40));
}

void ExpectSteps(const PhaseSteps& phase, int steps, int rows, int inputs) {
  EXPECT_EQ(phase.steps, steps);
  EXPECT_EQ(phase.rows, rows);
  EXPECT_EQ(phase.inputs, inputs);
}

TEST(SchedulerTest, CountsTheStepsOfEachPhase) {
  ManualClock clock;
  FakeEngine engine(
      {.on_step =
           [&](const StepPlan&) { clock.Advance(absl::Milliseconds(10)); },
       .allowed_steps = 0});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener alone, first, second;
  // So that the others come while a step computes, and begin together.
  auto request = MakeRequest(engine, alone, FakeTask{.tokens = 2});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  const absl::Time start = clock.Now();
  request = MakeRequest(engine, first,
                        FakeTask{.source = 5, .tokens = 3, .prefix = 2});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  request = MakeRequest(engine, second, FakeTask{.source = 7, .tokens = 4});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.OpenGate();
  EXPECT_TRUE(alone.Wait().ok());
  EXPECT_TRUE(first.Wait().ok());
  EXPECT_TRUE(second.Wait().ok());
  ExpectSteps(alone.times_.encode, 1, 5, 1);
  ExpectSteps(alone.times_.prompt, 0, 0, 0);
  EXPECT_EQ(alone.times_.prompted, absl::InfinitePast());
  // Beside its first token the others encode.
  ExpectSteps(alone.times_.decode, 2, (5 + 7 + 1) + 3, 3 + 3);
  ExpectSteps(first.times_.encode, 1, 5 + 7 + 1, 3);
  // A prompt beside decodes takes a row a step.
  EXPECT_EQ(first.times_.prompt.steps, 2);
  EXPECT_EQ(first.times_.prompt.inputs, 3 + 2);
  EXPECT_EQ(first.times_.prompted, start + absl::Milliseconds(40));
  EXPECT_EQ(second.times_.decode.steps, 4);
  // The last step of the first is its own.
  EXPECT_EQ(first.times_.prompt.inputs + first.times_.decode.inputs,
            second.times_.decode.inputs + 1);
}

TEST(SchedulerTest, ScoresAndAnswersEmptyWork) {
  ManualClock clock;
  FakeEngine engine;
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener score;
  EngineRequest work = MakeFakeRequest({});
  work.task = ScoreTask{.target = {4, 5, 6}};
  auto request = MakeRequest(engine, score, std::move(work));
  ASSERT_TRUE(scheduler.Submit(request).ok());
  EXPECT_TRUE(score.Wait().ok());
  EXPECT_THAT(score.final_.choices[0].tokens, ElementsAre(4, 5, 6));

  RecordingListener empty;
  request = MakeRequest(engine, empty, FakeTask{.tokens = 0});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  EXPECT_TRUE(empty.Wait().ok());
}

TEST(SchedulerTest, NewcomerGetsItsFirstTokenWithinTwoStepsOfALongStream) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 50});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener stream, newcomer;
  stream.engine_ = newcomer.engine_ = &engine;
  auto request = MakeRequest(engine, stream, FakeTask{.tokens = 400});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();  // in front of step 51, already planned
  request = MakeRequest(engine, newcomer, FakeTask{.tokens = 5});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.OpenGate();
  EXPECT_TRUE(newcomer.Wait().ok());
  EXPECT_TRUE(stream.Wait().ok());
  // Steps 52 (encode) and 53 (first token) are the first two it could join.
  EXPECT_EQ(newcomer.first_token_step_, 53);
  EXPECT_EQ(newcomer.done_step_, 57);
  EXPECT_EQ(stream.done_step_, 401);  // not one step lost
}

TEST(SchedulerTest, FullQueueRefusesAndKeepsTheRequest) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Turns turns;
  Scheduler scheduler({.max_queued_requests = 2, .max_running = 1}, engine,
                      clock, turns, nullptr);
  RecordingListener running, a, b, refused;
  auto request = MakeRequest(engine, running, FakeTask{});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, a, FakeTask{});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  request = MakeRequest(engine, b, FakeTask{});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  request = MakeRequest(engine, refused, FakeTask{});
  const absl::Status status = scheduler.Submit(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(status.GetPayload(kRetryAfterUrl).has_value());
  ASSERT_NE(request, nullptr);
  engine.OpenGate();
  EXPECT_TRUE(a.Wait().ok());
  EXPECT_TRUE(b.Wait().ok());
  EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
  EXPECT_TRUE(scheduler.Submit(request).ok());
  EXPECT_TRUE(refused.Wait().ok());
}

TEST(SchedulerTest, WhatCanNeverFitIsRefusedAtOnce) {
  ManualClock clock;
  FakeEngine engine({.blocks = 10, .block_tokens = 4, .encode_rows = 20});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener listener;
  auto request =
      MakeRequest(engine, listener, FakeTask{.source = 8, .tokens = 33});
  EXPECT_THAT(scheduler.Submit(request).message(), HasSubstr("limit is 10"));
  EXPECT_NE(request, nullptr);
  request = MakeRequest(engine, listener, FakeTask{.source = 21, .tokens = 1});
  EXPECT_EQ(scheduler.Submit(request).code(),
            absl::StatusCode::kInvalidArgument);
  request = MakeRequest(engine, listener, FakeTask{.source = 8, .tokens = 32});
  EXPECT_TRUE(scheduler.Submit(request).ok());
  EXPECT_TRUE(listener.Wait().ok());
}

TEST(SchedulerTest, PreemptedOnesAreReplayedAndLoseNothing) {
  ManualClock clock;
  // The largest request needs 2 + 4 * 5 = 22 blocks. All are there before the
  // second step, so memory is short.
  FakeEngine engine({.blocks = 23, .block_tokens = 4, .allowed_steps = 1});
  int64_t reported = 0;
  std::vector<FakeTask> tasks;
  for (int i = 0; i < 32; ++i) {
    tasks.push_back({.source = 1 + i % 8,
                     .tokens = 4 + i % 13,
                     .beams = i % 3 == 0 ? 4 : 1,
                     .prefix = i % 5 == 0 ? 3 : 0});
  }
  std::vector<RecordingListener> listeners(tasks.size());
  {
    Turns turns;
    Scheduler scheduler({}, engine, clock, turns,
                        [&](const StepReport& report) {
                          reported += report.preempted;
                          EXPECT_LE(report.used_blocks, report.total_blocks);
                        });
    for (size_t i = 0; i < tasks.size(); ++i) {
      auto request = MakeRequest(engine, listeners[i], tasks[i]);
      ASSERT_TRUE(scheduler.Submit(request).ok());
    }
    engine.OpenGate();
    for (RecordingListener& listener : listeners) {
      EXPECT_TRUE(listener.Wait().ok());
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    ExpectTokens(listeners[i], tasks[i]);
  }
  EXPECT_GT(engine.preemptions(), 0);
  EXPECT_EQ(engine.preemptions(), reported);
}

TEST(SchedulerTest, ReportsWhatAStepWas) {
  ManualClock clock;
  FakeEngine engine(
      {.on_step =
           [&](const StepPlan&) { clock.Advance(absl::Milliseconds(3)); },
       .allowed_steps = 1});
  std::vector<StepReport> reports;
  RecordingListener a, b;
  {
    Turns turns;
    Scheduler scheduler(
        {.max_running = 1}, engine, clock, turns,
        [&](const StepReport& report) { reports.push_back(report); });
    auto request =
        MakeRequest(engine, a, FakeTask{.source = 7, .tokens = 2, .beams = 3});
    ASSERT_TRUE(scheduler.Submit(request).ok());
    engine.WaitUntilBlocked();
    request = MakeRequest(engine, b, FakeTask{.source = 6, .tokens = 1});
    ASSERT_TRUE(scheduler.Submit(request).ok());
    engine.OpenGate();
    EXPECT_TRUE(b.Wait().ok());
    EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
  }
  ASSERT_EQ(reports.size(), 6u);
  EXPECT_EQ(reports[0].rows, 0);
  EXPECT_EQ(reports[0].total_blocks, reports[1].total_blocks);
  EXPECT_EQ(reports[1].rows, 7);
  EXPECT_EQ(reports[1].duration, absl::Milliseconds(3));
  EXPECT_EQ(reports[1].used_blocks, 2);
  EXPECT_EQ(reports[1].running, 1);
  EXPECT_EQ(reports[2].rows, 3);
  EXPECT_EQ(reports[2].queued_requests, 1);
  EXPECT_EQ(reports[2].queued_tokens, 6);
  EXPECT_EQ(reports[2].used_blocks, 2 + 3);
  EXPECT_EQ(reports[3].running, 0);
  EXPECT_EQ(reports[5].queued_requests, 0);
  EXPECT_EQ(reports[5].used_blocks, 0);
}

TEST(SchedulerTest, ReportsRowsThatWereComputedAndWhatWasFound) {
  ManualClock clock;
  FakeEngine engine(
      {.counts_per_step = {
           .spared_rows = 2, .queried_tokens = 9, .hit_tokens = 4}});
  std::vector<StepReport> reports;
  RecordingListener listener;
  {
    Turns turns;
    Scheduler scheduler(
        {}, engine, clock, turns,
        [&](const StepReport& report) { reports.push_back(report); });
    auto request =
        MakeRequest(engine, listener, FakeTask{.source = 7, .tokens = 1});
    ASSERT_TRUE(scheduler.Submit(request).ok());
    EXPECT_TRUE(listener.Wait().ok());
    EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
  }
  ASSERT_GE(reports.size(), 3u);
  EXPECT_EQ(reports[0].queried_tokens, 0);
  EXPECT_EQ(reports[1].rows, 7 - 2);
  for (int step : {1, 2}) {
    EXPECT_EQ(reports[step].queried_tokens, 9);
    EXPECT_EQ(reports[step].hit_tokens, 4);
  }
}

}  // namespace
}  // namespace attend
