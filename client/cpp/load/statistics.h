#ifndef ATTEND_CLIENT_CPP_LOAD_STATISTICS_H_
#define ATTEND_CLIENT_CPP_LOAD_STATISTICS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "absl/time/time.h"

namespace attend {

// Statistics of a set of durations. A percentile is a value of the set, by
// nearest rank: the smallest value that at least p % of the values do not
// exceed. All are zero for an empty set.
struct Quantiles {
  int64_t count = 0;
  absl::Duration mean = {}, p50 = {}, p90 = {}, p99 = {}, max = {};
};

Quantiles Summarize(std::vector<absl::Duration> values);

// The times of a Poisson process, counted from its start. The gaps between them
// are independent and exponential, with a mean of 1 / rate seconds. The same
// seed gives the same times.
class PoissonArrivals {
 public:
  // `rate`: arrivals a second, above 0.
  PoissonArrivals(double rate, uint64_t seed) : rate_(rate), engine_(seed) {}

  // The next arrival, later than the one before.
  absl::Duration Next();

 private:
  const double rate_;
  std::mt19937_64 engine_;
  absl::Duration last_ = absl::ZeroDuration();
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_STATISTICS_H_
