#include "tests/server/scheduler/simulation.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/scheduler/shrink.h"
#include "tests/support/sanitized.h"

// The scheduler in scenarios that seeds make. By hand, for longer and with
// other seeds:
//
//   ATTEND_SIMULATED_STEPS=10000000 ATTEND_SIMULATED_SEED=1000000
//     scheduler_test --gtest_filter='Simulation*'
//
// A seed makes the same scenario wherever the standard library is the same.

namespace attend {
namespace {

// A scenario that takes longer does not end.
constexpr int kSeconds = 60;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  int64_t value = otherwise;
  if (text != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << name << " is " << text;
  }
  return value;
}

// Where a simulation that runs in a process of its own has come to.
struct Progress {
  uint32_t seed = 0;
  SimulationCounts counts;
};

void Add(const SimulationCounts& counts, SimulationCounts& sum) {
  sum.steps += counts.steps;
  sum.requests += counts.requests;
  sum.refused += counts.refused;
  sum.preempted += counts.preempted;
  sum.found_rows += counts.found_rows;
  for (int code = 0; code <= 16; ++code) {
    sum.answered[code] += counts.answered[code];
  }
  sum.most_unfair = std::max(sum.most_unfair, counts.most_unfair);
}

std::string Complaint(const Scenario& scenario) {
  return RunApart(kSeconds, [&] { return Simulate(scenario).complaint; });
}

// For a person: what happens, step by step, until it goes wrong.
std::string Explain(const Scenario& failing) {
  const Scenario scenario =
      Shrink(failing, [](const Scenario& s) { return !Complaint(s).empty(); });
  const std::string trace =
      RunApart(kSeconds, [&] { return Simulate(scenario, true).trace; });
  return absl::StrCat(Complaint(scenario), "\n", ToText(scenario), trace);
}

TEST(SimulationTest, AFailureIsShrunkToWhatItTakes) {
  // Request 3 with 8 tokens or more, and a cancellation.
  const auto fails = [](const Scenario& scenario) {
    bool large = false, cancelled = false;
    for (const ScenarioEvent& event : scenario.events) {
      large |= event.kind == ScenarioEvent::Kind::kArrive &&
               event.request == 3 && event.task.tokens >= 8;
      cancelled |= event.kind == ScenarioEvent::Kind::kCancel;
    }
    return large && cancelled;
  };
  uint32_t seed = 1;
  while (!fails(MakeScenario(seed))) ++seed;
  const Scenario shrunk = Shrink(MakeScenario(seed), fails);
  ASSERT_EQ(shrunk.events.size(), 2u) << ToText(shrunk);
  const ScenarioEvent& arrival =
      shrunk.events[shrunk.events[0].kind != ScenarioEvent::Kind::kArrive];
  EXPECT_LT(arrival.task.tokens, 16);
  EXPECT_EQ(arrival.task.beams, 1);
}

TEST(SimulationTest, AnAbortIsAComplaint) {
  EXPECT_THAT(RunApart(kSeconds,
                       []() -> std::string {
                         fprintf(stderr, "check failed");
                         std::abort();
                       }),
              testing::HasSubstr("check failed (ended by signal 6)"));
}

TEST(SimulationTest, NothingGoesWrongInAnyScenario) {
  const int64_t steps =
      FromEnvironment("ATTEND_SIMULATED_STEPS", kSanitized ? 50000 : 1000000);
  const int64_t first = FromEnvironment("ATTEND_SIMULATED_SEED", 1);
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Progress& progress = *new (memory) Progress;
  const std::string complaint = RunApart(kSeconds, [&] {
    progress.seed = static_cast<uint32_t>(first);
    for (; progress.counts.steps < steps; ++progress.seed) {
      alarm(kSeconds);  // anew for each
      const SimulationResult result = Simulate(MakeScenario(progress.seed));
      Add(result.counts, progress.counts);
      if (!result.complaint.empty()) return result.complaint;
    }
    return std::string();
  });
  if (!complaint.empty()) {
    FAIL() << complaint << "\nand with less, of the same seed:\n"
           << Explain(MakeScenario(progress.seed));
  }
  const SimulationCounts& counts = progress.counts;
  // A simulation in which nothing happens finds nothing.
  EXPECT_GT(counts.refused, counts.requests / 100);
  EXPECT_GT(counts.preempted, counts.steps / 1000);
  EXPECT_GT(counts.found_rows, counts.steps / 1000);
  EXPECT_GT(counts.most_unfair, 0.1);
  for (const auto code :
       {absl::StatusCode::kOk, absl::StatusCode::kCancelled,
        absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kInternal,
        absl::StatusCode::kUnavailable}) {
    EXPECT_GT(counts.answered[static_cast<int>(code)], counts.requests / 1000)
        << code;
  }
  munmap(memory, sizeof(Progress));
}

}  // namespace
}  // namespace attend
