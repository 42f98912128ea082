#ifndef ATTEND_TESTS_SERVER_SCHEDULER_FAIRNESS_CHECK_H_
#define ATTEND_TESTS_SERVER_SCHEDULER_FAIRNESS_CHECK_H_

#include <vector>

#include "tests/server/scheduler/scenario.h"

namespace attend {

// How far two tenants drift apart, in service divided by weight, while both of
// them always have requests that wait. The service of a step is its time,
// shared by what the tenants' rows add to it.
class FairnessCheck {
 public:
  explicit FairnessCheck(const Scenario& scenario);

  // A step: who had requests that waited, and the rows that each tenant got.
  // Returns the widest drift of a pair that goes on, as a part of what is
  // allowed. A tenth of what both got is free: the scheduler has to learn what
  // rows cost.
  double OnStep(const std::vector<char>& waits,
                const std::vector<int>& decode_rows,
                const std::vector<int>& prompt_rows);

  double microseconds_allowed() const { return allowed_; }

 private:
  struct Pair {
    double both = 0;
    double ahead = 0;
    double least = 0;
    double most = 0;
  };

  const Scenario& scenario_;
  double allowed_ = 0;
  std::vector<double> got_;  // [tenant]: of a step, by weight
  std::vector<Pair> pairs_;  // [tenant, tenant]
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SCHEDULER_FAIRNESS_CHECK_H_
