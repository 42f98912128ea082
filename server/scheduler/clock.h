#ifndef ATTEND_SERVER_SCHEDULER_CLOCK_H_
#define ATTEND_SERVER_SCHEDULER_CLOCK_H_

#include "absl/time/time.h"

namespace attend {

// Time as the scheduler and calls see it; a fake in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

// About the time of the day, but it goes on evenly when somebody sets the
// system's clock: so no deadline, rate or wait jumps with that. For times that
// are compared with each other, in this process. Any thread may ask.
absl::Time SteadyNow();

class SteadyClock final : public Clock {
 public:
  absl::Time Now() const override { return SteadyNow(); }
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_CLOCK_H_
