#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_H_

#include <cstdint>
#include <string>

#include "tests/server/scheduler/scenario.h"

namespace attend {

// What has happened: a simulation in which nothing goes wrong shows nothing.
struct SimulationCounts {
  int64_t steps = 0;
  int64_t requests = 0;
  int64_t refused = 0;
  int64_t preempted = 0;
  int64_t found_rows = 0;
  int64_t answered[17] = {};  // [absl::StatusCode]
  // The widest drift of two tenants, as a part of what is allowed.
  double most_unfair = 0;
};

struct SimulationResult {
  std::string complaint;  // empty: all is well
  SimulationCounts counts;
  std::string trace;  // a line a step, if asked for
};

// Runs a scenario through the scheduler's queue, worker and batcher, over a
// simulated engine, in virtual time. After each step it checks:
// * the plan keeps within rows, places, blocks and encode rows, and nobody who
//   waits holds memory;
// * a request gets one answer, and the one that it must get, in the step in
//   which it must get it: cancelled, late, failed with its step, complete; and
//   nobody else gets an answer;
// * who is answered gets no rows;
// * nobody is overtaken within the tenant for longer than priorities allow, and
//   all end within a bound of steps;
// * tenants that always have work get it by their weights;
// * the queue and the worker's report count what is there.
SimulationResult Simulate(const Scenario& scenario, bool with_trace = false);

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SIMULATION_H_
