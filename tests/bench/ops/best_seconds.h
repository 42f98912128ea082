#ifndef ATTEND_TESTS_BENCH_OPS_BEST_SECONDS_H_
#define ATTEND_TESTS_BENCH_OPS_BEST_SECONDS_H_

#include <algorithm>
#include <limits>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"

namespace attend {

// The shortest of some calls of `work`, the first of which warms up: what it
// takes when nobody else is in the way.
inline double BestSeconds(int rounds, absl::FunctionRef<void()> work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const absl::Time start = absl::Now();
    work();
    best = std::min(best, absl::ToDoubleSeconds(absl::Now() - start));
  }
  return best;
}

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_OPS_BEST_SECONDS_H_
