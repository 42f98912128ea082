#include "server/scheduler/scheduler.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what it was told. Only the worker writes; read after Wait() or while
// the worker stands at the gate.
class RecordingListener final : public RequestListener {
 public:
  bool cancelled() const override { return cancelled_; }
  void OnOutput(const SequenceOutput& output,
                const RequestTimes& times) override {
    EXPECT_FALSE(done_);
    EXPECT_EQ(output.choices.size(), 1u);
    EXPECT_GT(output.choices[0].tokens.size(), static_cast<size_t>(tokens_));
    tokens_ = static_cast<int>(output.choices[0].tokens.size());
    if (first_token_step_ < 0 && engine_ != nullptr) {
      first_token_step_ = engine_->steps();
    }
    EXPECT_NE(times.first_token, absl::InfinitePast());
  }
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override {
    std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_FALSE(done_) << "OnDone twice";
    done_ = true;
    status_ = status;
    times_ = times;
    final_ = output;
    if (engine_ != nullptr) done_step_ = engine_->steps();
    changed_.notify_all();
  }

  const absl::Status& Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_.load(); });
    return status_;
  }

  const FakeEngine* engine_ = nullptr;  // if set: steps are recorded
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<int> tokens_ = 0;
  int64_t first_token_step_ = -1;
  int64_t done_step_ = -1;
  absl::Status status_;
  RequestTimes times_;
  SequenceOutput final_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

std::unique_ptr<Request> MakeRequest(const FakeEngine& engine,
                                     RecordingListener& listener,
                                     EngineRequest work) {
  auto request = std::make_unique<Request>();
  request->source_tokens = static_cast<int>(work.source.ids.size());
  request->sequence = *engine.NewSequence(std::move(work));
  request->listener = &listener;
  return request;
}

std::unique_ptr<Request> MakeRequest(const FakeEngine& engine,
                                     RecordingListener& listener,
                                     const FakeTask& task) {
  return MakeRequest(engine, listener, MakeFakeRequest(task));
}

void ExpectTokens(const RecordingListener& listener, const FakeTask& task) {
  const EngineRequest work = MakeFakeRequest(task);
  const std::vector<int>& tokens = listener.final_.choices.at(0).tokens;
  ASSERT_EQ(static_cast<int>(tokens.size()), task.tokens);
  for (int i = 0; i < task.tokens; ++i) {
    EXPECT_EQ(tokens[i], FakeToken(work.source, i));
  }
}

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
  Scheduler scheduler({}, engine, clock, nullptr);
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

TEST(SchedulerTest, ScoresAndAnswersEmptyWork) {
  ManualClock clock;
  FakeEngine engine;
  Scheduler scheduler({}, engine, clock, nullptr);
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
  Scheduler scheduler({}, engine, clock, nullptr);
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

TEST(SchedulerTest, CancelledWhileRunningIsFreedWithinOneStep) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 5});
  StepReport last;
  Scheduler scheduler({}, engine, clock,
                      [&](const StepReport& report) { last = report; });
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
  scheduler.Drain();
  EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
}

TEST(SchedulerTest, ReportsThatTheLastOneHasGone) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 2});
  std::vector<StepReport> reports;
  RecordingListener cancelled;
  {
    Scheduler scheduler({}, engine, clock, [&](const StepReport& report) {
      reports.push_back(report);
    });
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

TEST(SchedulerTest, CancelledAndLateInTheQueueNeverRun) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Scheduler scheduler({.max_running = 1}, engine, clock, nullptr);
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

TEST(SchedulerTest, DeadlineWhileRunning) {
  ManualClock clock;
  FakeEngine engine({.on_step = [&](const StepPlan&) {
    clock.Advance(absl::Milliseconds(1));
  }});
  Scheduler scheduler({}, engine, clock, nullptr);
  RecordingListener listener;
  auto request = MakeRequest(engine, listener, FakeTask{.tokens = 100});
  request->deadline = clock.Now() + absl::Milliseconds(11);
  ASSERT_TRUE(scheduler.Submit(request).ok());
  EXPECT_EQ(listener.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(listener.Wait().message(), HasSubstr("while running"));
  EXPECT_EQ(listener.final_.choices[0].tokens.size(), 10u);
}

TEST(SchedulerTest, FullQueueRefusesAndKeepsTheRequest) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Scheduler scheduler({.max_queued_requests = 2, .max_running = 1}, engine,
                      clock, nullptr);
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
  Scheduler scheduler({}, engine, clock, nullptr);
  RecordingListener listener;
  auto request =
      MakeRequest(engine, listener, FakeTask{.source = 8, .tokens = 33});
  EXPECT_THAT(scheduler.Submit(request).message(), HasSubstr("has 10"));
  EXPECT_NE(request, nullptr);
  request = MakeRequest(engine, listener, FakeTask{.source = 21, .tokens = 1});
  EXPECT_EQ(scheduler.Submit(request).code(),
            absl::StatusCode::kInvalidArgument);
  request = MakeRequest(engine, listener, FakeTask{.source = 8, .tokens = 32});
  EXPECT_TRUE(scheduler.Submit(request).ok());
  EXPECT_TRUE(listener.Wait().ok());
}

TEST(SchedulerTest, DrainEndsWhatWaitsAndFinishesWhatRuns) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Scheduler scheduler({.max_running = 1}, engine, clock, nullptr);
  RecordingListener running, queued, late;
  auto request = MakeRequest(engine, running, FakeTask{.tokens = 30});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  engine.WaitUntilBlocked();
  request = MakeRequest(engine, queued, FakeTask{});
  ASSERT_TRUE(scheduler.Submit(request).ok());
  scheduler.Drain();
  EXPECT_FALSE(scheduler.WaitUntilIdle(absl::Milliseconds(1)));
  request = MakeRequest(engine, late, FakeTask{});
  EXPECT_EQ(scheduler.Submit(request).code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(request, nullptr);
  engine.AllowSteps(1);
  EXPECT_EQ(queued.Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(running.done_);
  engine.OpenGate();
  EXPECT_TRUE(scheduler.WaitUntilIdle(absl::InfiniteDuration()));
  EXPECT_TRUE(running.Wait().ok());
  ExpectTokens(running, {.tokens = 30});
}

TEST(SchedulerTest, DestructorEndsEverythingOnce) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  RecordingListener running, queued;
  {
    auto scheduler = std::make_unique<Scheduler>(
        SchedulerOptions{.max_running = 1}, engine, clock, nullptr);
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

TEST(SchedulerTest, DestructorOfAnIdleScheduler) {
  ManualClock clock;
  FakeEngine engine;
  Scheduler scheduler({}, engine, clock, nullptr);
}

TEST(SchedulerTest, AFailedStepEndsItsMembersAndTheLoopGoesOn) {
  ManualClock clock;
  FakeEngine engine({.allowed_steps = 3});
  Scheduler scheduler({.max_running = 2}, engine, clock, nullptr);
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

TEST(SchedulerTest, PreemptedOnesAreReplayedAndLoseNothing) {
  ManualClock clock;
  // The largest request needs 2 + 4 * 5 = 22 blocks.
  FakeEngine engine({.blocks = 23, .block_tokens = 4});
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
    Scheduler scheduler({}, engine, clock, [&](const StepReport& report) {
      reported += report.preempted;
      EXPECT_LE(report.used_blocks, report.total_blocks);
    });
    for (size_t i = 0; i < tasks.size(); ++i) {
      auto request = MakeRequest(engine, listeners[i], tasks[i]);
      ASSERT_TRUE(scheduler.Submit(request).ok());
    }
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
    Scheduler scheduler(
        {.max_running = 1}, engine, clock,
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

}  // namespace
}  // namespace attend
