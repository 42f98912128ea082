// Tenants side by side, in the real queue, worker and batcher, in virtual time.

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "server/scheduler/worker.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

class Listener final : public RequestListener {
 public:
  bool cancelled() const override { return false; }
  void OnOutput(const SequenceOutput&, const RequestTimes&) override {
    running_ = true;
  }
  void OnDone(const absl::Status& status, const SequenceOutput& output,
              const RequestTimes& times) override {
    done_ = true;
    code_ = status.code();
    times_ = times;
    tokens_ = output.choices[0].tokens.size();
  }
  absl::Duration took() const { return times_.ended - times_.arrival; }

  bool done_ = false;
  bool running_ = false;  // has output
  absl::StatusCode code_ = absl::StatusCode::kUnknown;
  RequestTimes times_;
  size_t tokens_ = 0;
};

// A machine where a step takes 1 ms, 50 us more for each decode row and 20 us
// for each encode or prompt row.
class Machine {
 public:
  Machine(const SchedulerOptions& options, FakeEngineOptions engine)
      : engine_(WithTime(std::move(engine))),
        queue_(options.max_queued_requests, options.max_queued_tokens),
        worker_(options, engine_, clock_, queue_) {}
  ~Machine() { worker_.EndAll(absl::UnavailableError("over")); }

  // The listener of what was submitted; null: refused.
  Listener* Submit(const Tenant& tenant, const FakeTask& task) {
    auto request = std::make_unique<Request>();
    request->tenant = tenant;
    request->source_tokens = task.source;
    request->sequence = *engine_.NewSequence(MakeFakeRequest(task));
    request->listener = &listeners_.emplace_back();
    if (queue_.Push(request, clock_.Now()).ok()) return &listeners_.back();
    listeners_.pop_back();
    return nullptr;
  }
  void Step() {
    worker_.Sweep();
    if (!worker_.busy()) return;
    worker_.Plan();
    worker_.Step();
    worker_.Deliver();
  }
  void RunUntil(const Listener& listener) {
    while (!listener.done_) Step();
  }
  void Sleep(absl::Duration duration) { clock_.Advance(duration); }

  absl::Time now() const { return clock_.Now(); }
  absl::Duration longest_step() const { return longest_; }
  const FakeEngine& engine() const { return engine_; }

 private:
  FakeEngineOptions WithTime(FakeEngineOptions options) {
    options.on_step = [this](const StepPlan& plan) {
      absl::Duration took = absl::Milliseconds(1);
      for (const Piece& piece : plan.pieces) {
        took += piece.rows *
                absl::Microseconds(
                    piece.sequence->Next().phase == Phase::kDecode ? 50 : 20);
      }
      longest_ = std::max(longest_, took);
      clock_.Advance(took);
    };
    return options;
  }

  ManualClock clock_;
  absl::Duration longest_ = absl::ZeroDuration();
  std::deque<Listener> listeners_;
  FakeEngine engine_;
  RequestQueue queue_;
  Worker worker_;
};

constexpr FakeTask kShort = {.source = 10, .tokens = 12};
constexpr Tenant kFlood = {.id = 1};
constexpr Tenant kLone = {.id = 2};

// Keeps so many requests of a tenant in the machine.
class Flood {
 public:
  Flood(Machine& machine, const Tenant& tenant, int in_flight, FakeTask task)
      : machine_(machine), tenant_(tenant), task_(task), calls_(in_flight) {}

  void Refill() {
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i] != nullptr && !calls_[i]->done_) continue;
      if (calls_[i] != nullptr) tokens_ += calls_[i]->tokens_;
      // Of many lengths, so that they do not end together.
      FakeTask task = task_;
      task.tokens = 1 + task.tokens / 2 + (made_++ * 37) % task.tokens;
      calls_[i] = machine_.Submit(tenant_, task);
    }
  }
  // Those of its calls that have begun and not ended.
  int running() const {
    return static_cast<int>(
        std::count_if(calls_.begin(), calls_.end(), [](const Listener* call) {
          return call != nullptr && !call->done_ && call->running_;
        }));
  }
  // Of calls that have ended.
  int64_t tokens() const { return tokens_; }

 private:
  Machine& machine_;
  const Tenant tenant_;
  const FakeTask task_;
  std::vector<Listener*> calls_;
  int made_ = 0;
  int64_t tokens_ = 0;
};

absl::Duration Alone(const SchedulerOptions& options,
                     const FakeEngineOptions& engine, const FakeTask& task) {
  Machine machine(options, engine);
  Listener* lone = nullptr;
  for (int i = 0; i < 3; ++i) {
    lone = machine.Submit(kLone, task);
    machine.RunUntil(*lone);
  }
  return lone->took();
}

struct Outcome {
  absl::Duration longest_lone;
  double flood_tokens_per_second = 0;
};

// A lone client with a pause after each request, beside a flood.
Outcome Beside(const Tenant& lone_tenant, int in_flight,
               const FakeTask& flood_task, const SchedulerOptions& options,
               const FakeEngineOptions& engine) {
  Machine machine(options, engine);
  Flood flood(machine, kFlood, in_flight, flood_task);
  const auto step = [&] {
    flood.Refill();
    machine.Step();
  };
  for (int i = 0; i < 500; ++i) step();
  const absl::Time begin = machine.now();
  const int64_t before = flood.tokens();
  Outcome outcome;
  for (int i = 0; i < 20; ++i) {
    const absl::Time until = machine.now() + absl::Milliseconds(400 + 13 * i);
    while (machine.now() < until) step();
    const Listener* lone = machine.Submit(lone_tenant, kShort);
    EXPECT_TRUE(lone != nullptr || lone_tenant.id == kFlood.id) << "refused";
    while (lone == nullptr) {
      step();
      lone = machine.Submit(lone_tenant, kShort);
    }
    while (!lone->done_) step();
    EXPECT_EQ(lone->code_, absl::StatusCode::kOk);
    outcome.longest_lone = std::max(outcome.longest_lone, lone->took());
  }
  outcome.flood_tokens_per_second =
      (flood.tokens() - before) / absl::ToDoubleSeconds(machine.now() - begin);
  outcome.longest_lone -= machine.longest_step();
  return outcome;
}

struct FloodCase {
  const char* name;
  int in_flight;
  FakeTask task;
  SchedulerOptions options = {};
  FakeEngineOptions engine = {};
};

class BesideAFloodTest : public testing::TestWithParam<FloodCase> {};

TEST_P(BesideAFloodTest, ALoneRequestIsSlowedDownByAFactorOfThreeAtMost) {
  const auto& [name, in_flight, task, options, engine] = GetParam();
  const absl::Duration alone = Alone(options, engine, kShort);
  const Outcome fair = Beside(kLone, in_flight, task, options, engine);
  EXPECT_LE(fair.longest_lone, 3 * alone)
      << "alone " << alone << ", without the step that it came into";
}

TEST_P(BesideAFloodTest, TheFloodKeepsItsThroughput) {
  if (kSanitized) GTEST_SKIP() << "the test above takes the same steps";
  const auto& [name, in_flight, task, options, engine] = GetParam();
  const Outcome fair = Beside(kLone, in_flight, task, options, engine);
  const Outcome unfair = Beside(kFlood, in_flight, task, options, engine);
  EXPECT_GE(fair.flood_tokens_per_second,
            0.95 * unfair.flood_tokens_per_second);
}

INSTANTIATE_TEST_SUITE_P(
    Floods, BesideAFloodTest,
    testing::Values(
        FloodCase{"few", 16, {.source = 60, .tokens = 60, .beams = 4}},
        FloodCase{"many", 600, {.source = 60, .tokens = 60, .beams = 4}},
        FloodCase{
            "places", 300, {.source = 20, .tokens = 100}, {.max_running = 64}},
        FloodCase{"queue",
                  150,
                  {.source = 20, .tokens = 60},
                  {.max_queued_requests = 100, .max_running = 32}},
        FloodCase{"blocks",
                  200,
                  {.source = 40, .tokens = 100, .beams = 4},
                  {},
                  {.blocks = 2000}},
        FloodCase{"encodes",
                  200,
                  {.source = 1000, .tokens = 10},
                  {},
                  {.encode_rows = 2500}}),
    [](const auto& flood) { return flood.param.name; });

// Needs 803 blocks, which is more than the share of one tenant of two.
constexpr FakeTask kLarge = {.source = 3200, .tokens = 12};
constexpr Tenant kLargeOne = {.id = 3};
const SchedulerOptions kImpatient = {.aging = absl::Milliseconds(20)};

TEST(FairShareTest, ALargeRequestThatWaitsHoldsUpNobodyWhoIsNotInItsWay) {
  Machine machine(kImpatient, {.blocks = 1000});
  const Listener* const longest =
      machine.Submit(kFlood, {.source = 900, .tokens = 900});
  for (int i = 0; i < 20; ++i) machine.Step();
  const Listener* const large = machine.Submit(kLargeOne, kLarge);
  int served = 0;
  while (!longest->done_) {
    const Listener* const lone = machine.Submit(kLone, kShort);
    machine.RunUntil(*lone);
    served += !longest->done_;
    ASSERT_LE(lone->took(), absl::Milliseconds(40));
  }
  EXPECT_GT(served, 40);
  EXPECT_FALSE(large->done_);
  machine.RunUntil(*large);
  EXPECT_LE(large->times_.started, longest->times_.ended + kImpatient.aging);
}

TEST(FairShareTest, NorDoesItWaitForThoseWhoComeLater) {
  for (const int heavy : {0, 30}) {
    SCOPED_TRACE(heavy);
    Machine machine(kImpatient, {.blocks = 1000});
    Flood small(machine, kLone, 300, kShort);
    Flood large(machine, kFlood, heavy,
                {.source = 20, .tokens = 30, .beams = 4});
    const auto step = [&] {
      small.Refill();
      large.Refill();
      machine.Step();
    };
    for (int i = 0; i < 300; ++i) step();
    const Listener* const lone = machine.Submit(kLargeOne, kLarge);
    for (int i = 0; i < 20000 && !lone->done_; ++i) step();
    ASSERT_TRUE(lone->done_);
    EXPECT_LE(lone->times_.started - lone->times_.arrival,
              absl::Milliseconds(500));
  }
}

// Tokens that floods get for each other's, when all places are taken.
TEST(FairShareTest, FloodsGetWorkByTheirWeights) {
  Machine machine({.max_running = 32}, {});
  const FakeTask task = {.source = 20, .tokens = 40};
  Flood light(machine, {.id = 1, .weight = 1}, 100, task);
  Flood heavy(machine, {.id = 2, .weight = 3}, 100, task);
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      light.Refill();
      heavy.Refill();
      machine.Step();
    }
  };
  run(500);
  const int64_t light_before = light.tokens();
  const int64_t heavy_before = heavy.tokens();
  run(3000);
  const double ratio =
      1.0 * (heavy.tokens() - heavy_before) / (light.tokens() - light_before);
  EXPECT_GT(light.tokens() - light_before, 10'000);
  EXPECT_NEAR(ratio, 3, 0.15);
}

TEST(FairShareTest, ATenantRunsNoMoreThanItMay) {
  Machine machine({}, {});
  const Tenant few = {.id = 1, .max_running = 3};
  const FakeTask task = {.source = 20, .tokens = 40};
  Flood limited(machine, few, 50, task);
  Flood other(machine, kLone, 20, task);
  for (int i = 0; i < 1000; ++i) {
    limited.Refill();
    other.Refill();
    machine.Step();
    ASSERT_LE(limited.running(), 3);
    if (i > 100) {
      ASSERT_GE(other.running(), 10);
    }
  }
  EXPECT_GT(limited.tokens(), 2000);
}

TEST(FairShareTest, OneTenantIsServedAsWithoutTenants) {
  std::vector<absl::Time> ends[2];
  for (const bool named : {false, true}) {
    Machine machine({.max_running = 16}, {.blocks = 1000});
    std::vector<Listener*> calls;
    for (int i = 0; i < 100; ++i) {
      calls.push_back(
          machine.Submit({.id = named ? 77u : 0u}, {.source = 1 + i * 7 % 50,
                                                    .tokens = 1 + i * 11 % 70,
                                                    .beams = 1 + i % 4}));
    }
    for (Listener* call : calls) {
      machine.RunUntil(*call);
      ends[named].push_back(call->times_.ended);
    }
  }
  EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace
}  // namespace attend
