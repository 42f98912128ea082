#include "server/scheduler/worker.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"

// The worker without a thread: whole loops, step by step and repeatable.

namespace {

// Allocations of this thread while `counting`.
thread_local bool counting = false;
thread_local int64_t allocations = 0;

void* CountedAllocate(std::size_t size) {
  if (counting) ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}

}  // namespace

void* operator new(std::size_t size) { return CountedAllocate(size); }
void* operator new[](std::size_t size) { return CountedAllocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace attend {
namespace {

constexpr absl::Duration kAging = absl::Milliseconds(200);

class Recorder final : public RequestListener {
 public:
  bool cancelled() const override { return cancelled_; }
  void OnOutput(const SequenceOutput&, const RequestTimes&) override {
    ++outputs_;
  }
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override {
    ++done_;
    code_ = status.code();
    times_ = times;
    tokens_ = output.choices[0].tokens.size();
  }

  bool cancelled_ = false;
  int outputs_ = 0;
  int done_ = 0;
  absl::StatusCode code_ = absl::StatusCode::kUnknown;
  RequestTimes times_;
  size_t tokens_ = 0;
};

std::unique_ptr<Request> MakeRequest(const FakeEngine& engine,
                                     Recorder& listener, const FakeTask& task) {
  auto request = std::make_unique<Request>();
  request->source_tokens = task.source;
  request->sequence = *engine.NewSequence(MakeFakeRequest(task));
  request->listener = &listener;
  return request;
}

void RunStep(Worker& worker) {
  worker.Sweep();
  if (!worker.busy()) return;
  worker.Plan();
  worker.Step();
  worker.Deliver();
}

struct Case {
  FakeTask task;
  int priority = 0;
  absl::Time arrival;
  absl::Time cancel_at = absl::InfiniteFuture();
  absl::Time deadline = absl::InfiniteFuture();
};

std::vector<Case> RandomCases(int n, absl::Time start, std::mt19937& random) {
  const auto uniform = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<Case> cases(n);
  absl::Time arrival = start;
  for (Case& c : cases) {
    // Bursts and pauses; on the whole more than what can be computed.
    arrival += absl::Milliseconds(uniform(0, 9) == 0 ? uniform(0, 150) : 0);
    c.arrival = arrival;
    c.task.source = uniform(0, 19) == 0 ? uniform(100, 300) : uniform(1, 30);
    c.task.tokens = uniform(0, 9) == 0 ? uniform(50, 200) : uniform(1, 25);
    c.task.beams = uniform(0, 3) == 0 ? 4 : 1;
    c.task.prefix = uniform(0, 9) == 0 ? uniform(1, 40) : 0;
    c.priority = uniform(-2, 2);
    if (uniform(0, 19) == 0) {
      c.cancel_at = arrival + absl::Milliseconds(uniform(0, 500));
    }
    if (uniform(0, 19) == 0) {
      c.deadline = arrival + absl::Milliseconds(uniform(0, 500));
    }
  }
  return cases;
}

// The engine aborts when budget, blocks or encode rows are exceeded, its
// context when memory is not given back.
void Simulate(int n, int blocks, int max_batch_tokens, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << blocks << " blocks, " << max_batch_tokens
                                  << " rows, seed " << seed);
  std::mt19937 random(seed);
  ManualClock clock;
  int rows = 0;
  FakeEngineOptions engine_options;
  engine_options.blocks = blocks;
  engine_options.encode_rows = 400;
  engine_options.on_step = [&](const StepPlan& plan) {
    rows = 0;
    for (const Piece& piece : plan.pieces) rows += piece.rows;
    EXPECT_LE(rows, max_batch_tokens);
    clock.Advance(absl::Microseconds(500 + 20 * rows));
  };
  const FakeEngine engine(engine_options);
  const SchedulerOptions options = {.max_queued_requests = n,
                                    .max_queued_tokens = 1 << 24,
                                    .max_batch_tokens = max_batch_tokens,
                                    .max_running = 64,
                                    .aging = kAging};
  RequestQueue queue(options.max_queued_requests, options.max_queued_tokens);
  std::vector<Case> cases = RandomCases(n, clock.Now(), random);
  std::vector<Recorder> recorders(cases.size());
  std::vector<absl::Time> seen(cases.size());
  {
    Worker worker(options, engine, clock, queue);
    size_t next = 0;
    int64_t steps = 0;
    while (next < cases.size() || worker.busy()) {
      if (!worker.busy() && cases[next].arrival > clock.Now()) {
        clock.Advance(cases[next].arrival - clock.Now());
      }
      for (; next < cases.size() && cases[next].arrival <= clock.Now();
           ++next) {
        auto request = MakeRequest(engine, recorders[next], cases[next].task);
        request->priority = cases[next].priority;
        request->deadline = cases[next].deadline;
        cases[next].arrival = clock.Now();
        ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
      }
      for (size_t i = 0; i < next; ++i) {
        if (cases[i].cancel_at <= clock.Now()) recorders[i].cancelled_ = true;
      }
      RunStep(worker);
      const StepReport report = worker.Report();
      ASSERT_LE(report.used_blocks, blocks);
      ASSERT_LE(report.running, options.max_running);
      ASSERT_LT(++steps, 1000 * n);
    }
  }
  EXPECT_TRUE(queue.WaitUntilEmpty(absl::ZeroDuration()));
  EXPECT_EQ(queue.depth().requests, 0);
  EXPECT_EQ(queue.depth().tokens, 0);
  EXPECT_EQ(engine.live_sequences(), 0);
  EXPECT_LT(engine.preemptions(), 2 * n);  // no thrashing

  // Waiting is bounded: whoever came later by one level more than what
  // priorities can differ was not started earlier.
  const absl::Duration most = 5 * kAging;
  absl::Time latest_start = absl::InfinitePast();
  size_t older = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Recorder& recorder = recorders[i];
    ASSERT_EQ(recorder.done_, 1);
    switch (recorder.code_) {
      case absl::StatusCode::kOk:
        EXPECT_EQ(recorder.tokens_, static_cast<size_t>(cases[i].task.tokens));
        EXPECT_EQ(recorder.outputs_, cases[i].task.tokens);
        break;
      case absl::StatusCode::kCancelled:
        EXPECT_TRUE(recorder.cancelled_);
        break;
      case absl::StatusCode::kDeadlineExceeded:
        EXPECT_GE(recorder.times_.ended, cases[i].deadline);
        break;
      default:
        ADD_FAILURE() << absl::StatusCodeToString(recorder.code_);
    }
    for (; cases[older].arrival + most <= cases[i].arrival; ++older) {
      latest_start = std::max(latest_start, recorders[older].times_.started);
    }
    if (recorder.times_.started != absl::InfinitePast()) {
      ASSERT_GE(recorder.times_.started, latest_start) << i;
    }
  }
}

// The largest request: 75 + 4 * 60 = 315 blocks.
TEST(WorkerTest, ThousandsOfRandomRequestsWithPlentyOfMemory) {
  Simulate(2000, 1 << 16, 256, 1);
}
TEST(WorkerTest, ThousandsOfRandomRequestsWithLittleMemory) {
  Simulate(1000, 316, 256, 2);
  Simulate(1000, 400, 1024, 3);
  Simulate(1000, 700, 64, 4);
}
TEST(WorkerTest, ThousandsOfRandomRequestsWithATinyBudget) {
  Simulate(500, 1 << 16, 8, 5);
  Simulate(500, 500, 9, 6);
}

TEST(WorkerTest, LittleMemoryPreempts) {
  ManualClock clock;
  FakeEngineOptions engine_options;
  engine_options.blocks = 24;
  const FakeEngine engine(engine_options);
  RequestQueue queue(100, 10000);
  std::vector<Recorder> recorders(8);
  std::vector<size_t> ended;
  Worker worker({}, engine, clock, queue);
  for (Recorder& recorder : recorders) {
    auto request = MakeRequest(engine, recorder, {.source = 4, .tokens = 40});
    ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
  }
  while (ended.size() < recorders.size()) {
    RunStep(worker);
    for (size_t i = 0; i < recorders.size(); ++i) {
      if (recorders[i].done_ && !testing::Value(ended, testing::Contains(i))) {
        ended.push_back(i);
      }
    }
  }
  EXPECT_GT(engine.preemptions(), 0);
  // The oldest is never the victim: they end in order of arrival.
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
}

TEST(WorkerTest, StreamsStayEvenWhileLongInputsComeIn) {
  ManualClock clock;
  absl::Duration longest = absl::ZeroDuration();
  FakeEngineOptions engine_options;
  engine_options.on_step = [&](const StepPlan& plan) {
    int rows = 0;
    for (const Piece& piece : plan.pieces) rows += piece.rows;
    const absl::Duration duration = absl::Microseconds(4000 + 50 * rows);
    longest = std::max(longest, duration);
    clock.Advance(duration);
  };
  const FakeEngine engine(engine_options);
  RequestQueue queue(100, 1 << 20);
  Worker worker({}, engine, clock, queue);
  Recorder stream;
  std::vector<Recorder> others(5);
  auto request = MakeRequest(engine, stream, {.tokens = 400});
  ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
  for (int i = 0; i < 50; ++i) RunStep(worker);
  longest = absl::ZeroDuration();
  for (Recorder& other : others) {
    request = MakeRequest(engine, other, {.source = 1000, .tokens = 1});
    ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
  }
  while (worker.busy()) RunStep(worker);
  EXPECT_LE(longest, 2.2 * absl::Microseconds(4050));
  // And it was used: 5000 rows went through beside the stream's 350 steps.
  for (const Recorder& other : others) {
    EXPECT_LT(other.times_.ended, stream.times_.ended);
  }
}

TEST(WorkerTest, StepsDoNotAllocate) {
  ManualClock clock;
  FakeEngineOptions engine_options;
  engine_options.blocks = 500;
  const FakeEngine engine(engine_options);
  RequestQueue queue(200, 1 << 20);
  Worker worker({}, engine, clock, queue);
  std::vector<Recorder> recorders(400);
  size_t next = 0;
  for (int step = 0; step < 1000; ++step) {
    // Rows grow and shrink with the arrivals.
    if (step % 100 < 40 && next < recorders.size()) {
      auto request = MakeRequest(
          engine, recorders[next],
          {.source = 1 + step % 60, .tokens = 1 + step % 90, .beams = 2});
      ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
      ++next;
    }
    if (step == 100) allocations = 0;  // warm
    counting = true;
    RunStep(worker);
    counting = false;
    clock.Advance(absl::Milliseconds(1));
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_GT(engine.preemptions(), 0);
  worker.EndAll(absl::UnavailableError("over"));
}

}  // namespace
}  // namespace attend
