#ifndef ATTEND_CLIENT_CPP_LOAD_STATISTICS_H_
#define ATTEND_CLIENT_CPP_LOAD_STATISTICS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "absl/time/time.h"

namespace attend {

// Of a set of durations. Percentiles are values that occurred (nearest rank:
// the smallest that at least p % of the set do not exceed), never interpolated.
// All zero for an empty set.
struct Quantiles {
  int64_t count = 0;
  absl::Duration mean = {}, p50 = {}, p90 = {}, p99 = {}, max = {};
};

Quantiles Summarize(std::vector<absl::Duration> values);

// Times of arrival of a Poisson process, since its start: independent
// exponential gaps with mean 1 / rate. The same seed gives the same times.
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
