#ifndef ATTEND_TESTS_SERVER_SCHEDULER_SHRINK_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_SHRINK_H_

#include <functional>
#include <string>

#include "tests/server/scheduler/scenario.h"

namespace attend {

// A scenario that fails too, with few events, of little work: whatever can be
// left out alone is left out. `fails` is asked some hundred times, and must be
// true of the scenario.
Scenario Shrink(Scenario scenario,
                const std::function<bool(const Scenario&)>& fails);

// Runs `work` in a process of its own and returns what it returns. If that
// process ends otherwise, by an abort or after so many seconds: how it ended,
// and what it had written to the standard error.
std::string RunApart(int seconds, const std::function<std::string()>& work);

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_SHRINK_H_
