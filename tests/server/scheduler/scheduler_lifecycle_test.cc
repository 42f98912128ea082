// How requests and the scheduler end: cancel, deadline, failure, drain.

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/turns.h"
#include "tests/server/scheduler/recording_listener.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(SchedulerLifecycleTest, CancelledWhileRunningIsFreedWithinOneStep) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 5});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener cancelled, other;
  cancelled.engine_ = &engine;
  auto request = MakeRequest(engine, cancelled, FakeTask{.tokens = 100});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, other, FakeTask{.tokens = 100});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  cancelled.cancelled_ = true;
  engine.AllowSteps(1);
  EXPECT_EQ(cancelled.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cancelled.done_step_, 6);
  EXPECT_EQ(cancelled.final_.choices[0].tokens.size(), 5u);
  engine.WaitUntilBlocked();
  EXPECT_EQ(engine.live_sequences(), 1);
  engine.OpenGate();
  EXPECT_TRUE(other.Wait().ok());
  EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
}

TEST(SchedulerLifecycleTest, ReportsThatTheLastOneHasGone) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 2});
  std::vector<StepReport> reports;
  RecordingListener cancelled;
  {
    Turns turns;
    Scheduler scheduler(
        {}, engine, clock, turns,
        [&](const StepReport& report) { reports.push_back(report); });
    auto request = MakeRequest(engine, cancelled, FakeTask{.tokens = 100});
    ASSERT_TRUE(scheduler.Submit(request).ok());
    engine.WaitUntilBlocked();
    cancelled.cancelled_ = true;
    engine.OpenGate();
    EXPECT_TRUE(absl::IsCancelled(cancelled.Wait()));
  }
  ASSERT_EQ(reports.size(), 5u);  // at the start, three steps, at the end
  EXPECT_EQ(reports[3].running, 1);
  EXPECT_GT(reports[3].used_blocks, 0);
  EXPECT_EQ(reports[4].rows, 0);
  EXPECT_EQ(reports[4].running, 0);
  EXPECT_EQ(reports[4].used_blocks, 0);
}

TEST(SchedulerLifecycleTest, CancelledAndLateInTheQueueNeverRun) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Turns turns;
  Scheduler scheduler({.max_running = 1}, engine, clock, turns, nullptr);
  RecordingListener running, cancelled, late;
  auto request = MakeRequest(engine, running, FakeTask{.tokens = 50});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, cancelled, FakeTask{});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  request = MakeRequest(engine, late, FakeTask{});
  request->deadline = clock.Now() + absl::Milliseconds(5);
  ASSERT_TRUE(scheduler.Submit(request).ok());
  cancelled.cancelled_ = true;
  clock.Advance(absl::Milliseconds(5));
  engine.AllowSteps(1);
  EXPECT_EQ(cancelled.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(late.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(late.Wait().message(), HasSubstr("in the queue"));
  EXPECT_EQ(late.times_.started, absl::InfinitePast());
  EXPECT_FALSE(running.done_);
  engine.OpenGate();
  EXPECT_TRUE(running.Wait().ok());
}

TEST(SchedulerLifecycleTest, DeadlineWhileRunning) {
  ManualClock clock;
  FakeEngine engine({.on_step = [&](const StepPlan&) {
    clock.Advance(absl::Milliseconds(1));
  }});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener listener;
  auto request = MakeRequest(engine, listener, FakeTask{.tokens = 100});
  request->deadline = clock.Now() + absl::Milliseconds(11);
  ASSERT_TRUE(scheduler.Submit(request).ok());
  EXPECT_EQ(listener.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(listener.Wait().message(), HasSubstr("while running"));
  EXPECT_EQ(listener.final_.choices[0].tokens.size(), 10u);
}

TEST(SchedulerLifecycleTest, DestructorEndsEverythingOnce) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  RecordingListener running, queued;
  {
    Turns turns;
    auto scheduler = std::make_unique<Scheduler>(
        SchedulerOptions{.max_running = 1}, engine, clock, turns, nullptr);
    // More than can be done before the destructor is reached.
    auto request = MakeRequest(engine, running, FakeTask{.tokens = 200000});
    ASSERT_TRUE(scheduler->Submit(request).ok());
    engine.WaitUntilBlocked();
    request = MakeRequest(engine, queued, FakeTask{});
    ASSERT_TRUE(scheduler->Submit(request).ok());
    engine.OpenGate();
  }
  EXPECT_EQ(running.Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(queued.Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(engine.live_sequences(), 0);
}

TEST(SchedulerLifecycleTest, DestructorOfAnIdleScheduler) {
  ManualClock clock;
  FakeEngine engine;
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
}

TEST(SchedulerLifecycleTest, AFailedStepEndsItsMembersAndTheLoopGoesOn) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Turns turns;
  Scheduler scheduler({.max_running = 2}, engine, clock, turns, nullptr);
  RecordingListener a, b, waiting;
  auto request = MakeRequest(engine, a, FakeTask{.tokens = 50});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, b, FakeTask{.tokens = 50});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  request = MakeRequest(engine, waiting, FakeTask{.tokens = 50});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.AllowSteps(2);
  engine.WaitUntilBlocked();
  engine.FailNextStep(absl::UnknownError("bad arithmetic"));
  engine.OpenGate();
  for (RecordingListener* listener : {&a, &b}) {
    EXPECT_EQ(listener->Wait().code(), absl::StatusCode::kInternal);
    EXPECT_THAT(listener->Wait().message(), HasSubstr("bad arithmetic"));
  }
  EXPECT_TRUE(waiting.Wait().ok());
  ExpectTokens(waiting, {.tokens = 50});
}

TEST(SchedulerLifecycleTest, NumbersThatAreNotFiniteEndTheirRequestAlone) {
  ManualClock clock;
  FakeEngine engine({.broken_source = 6, .allowed_steps = 0});
  Turns turns;
  Scheduler scheduler({}, engine, clock, turns, nullptr);
  RecordingListener well, broken;
  auto request = MakeRequest(engine, well, FakeTask{.source = 5, .tokens = 9});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, broken, FakeTask{.source = 6, .tokens = 9});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.OpenGate();
  EXPECT_EQ(broken.Wait().code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(broken.final_.choices[0].tokens.empty());
  EXPECT_TRUE(well.Wait().ok());
  ExpectTokens(well, {.tokens = 9});
}

}  // namespace
}  // namespace attend
