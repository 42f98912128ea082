#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SCENARIO_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SCENARIO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/scheduler/scheduler.h"
#include "tests/server/scheduler/simulated_engine.h"

namespace attend {

// What happens at a time. Times are in microseconds.
struct ScenarioEvent {
  enum class Kind {
    kArrive,    // a request of `task`
    kCancel,    // of the request
    kFailStep,  // the next step fails
    kSlowStep,  // the next step takes `micros` longer
    kSetClock,  // the clock goes `micros` forward, or back
    kClose,     // the server stops: nothing happens after this
  };

  Kind kind = Kind::kArrive;
  int64_t at = 0;   // since the start
  int request = 0;  // of kArrive and kCancel: its number
  int64_t micros = 0;
  // Of kArrive:
  SimulatedTask task = {};
  int tenant = 0;
  int priority = 0;
  int64_t deadline = kNever;  // after its arrival

  static constexpr int64_t kNever = -1;
};

// A machine, and all that happens to it. A scenario without some of its events
// is a scenario too.
struct Scenario {
  uint32_t seed = 0;
  SchedulerOptions options;
  SimulatedMachine machine;
  std::vector<int> weights;  // [tenant]
  // Two or three tenants of which each has work for long, and memory in plenty:
  // little else decides who gets how much.
  bool even = false;
  std::vector<ScenarioEvent> events;  // in order of time
};

// The scenario of a seed.
Scenario MakeScenario(uint32_t seed);

// The most rows of a step; the widest decode counts, whatever the options say.
int MostStepRows(const Scenario& scenario);

// For people: a line an event.
std::string ToText(const Scenario& scenario);

// The highest priority is this, the lowest its negative.
inline constexpr int kMostPriority = 2;

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SCENARIO_H_
