#include "server/scheduler/worker.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
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
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return CountedAllocate(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace attend {
namespace {

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

TEST(WorkerTest, ABurstThatComesToAnIdleServerBeginsTogether) {
  ManualClock clock;
  FakeEngineOptions engine_options;
  engine_options.on_step = [&](const StepPlan& plan) {
    int rows = 0;
    for (const Piece& piece : plan.pieces) rows += piece.rows;
    clock.Advance(absl::Microseconds(1000 + 50 * rows));
  };
  const FakeEngine engine(engine_options);
  RequestQueue queue(100, 1 << 20);
  Worker worker({}, engine, clock, queue);
  // Two steps have room for these sources.
  std::vector<Recorder> recorders(60);
  for (Recorder& recorder : recorders) {
    auto request = MakeRequest(engine, recorder, {.source = 30, .tokens = 10});
    ASSERT_TRUE(queue.Push(request, clock.Now()).ok());
  }
  // The first half decodes beside the sources of the second.
  for (int i = 0; i < 3; ++i) RunStep(worker);
  for (const Recorder& recorder : recorders) EXPECT_GT(recorder.outputs_, 0);
  while (worker.busy()) RunStep(worker);
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

TEST(WorkerTest, NorDoRequestsThatReturnToAFullQueue) {
  constexpr int kReturned = 100;
  RequestQueue queue(2, 1000, kReturned);
  Request request;
  counting = true;
  allocations = 0;
  for (int i = 0; i < 4 + kReturned; ++i) {
    request.tenant.id = i;
    queue.Return(request);
  }
  counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(queue.depth().requests, 4 + kReturned);
}

}  // namespace
}  // namespace attend
