#ifndef ATTEND_TESTS_BENCH_OPS_MACHINE_LIMITS_H_
#define ATTEND_TESTS_BENCH_OPS_MACHINE_LIMITS_H_

#include <cstdint>
#include <map>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/buffer.h"

namespace attend {

// What the machine can do at best, measured in this process with all threads of
// the team at once. Rates are the best of several ways and rounds, so that a
// share of the limit errs downwards.
class MachineLimits {
 public:
  // Measures the arithmetic, which takes a second or two. `compute` must
  // outlive this.
  explicit MachineLimits(Compute& compute);

  // Bytes a second read from memory in huge pages, measured now: on virtual
  // machines it changes by a factor of two within seconds. Takes some 30 ms,
  // more where the last cache is above 128 MB.
  double BytesPerSecond() const;

  // See DnnlFlopPerSecond(). A dtype that this machine cannot multiply in is
  // missing.
  const std::map<ComputeType, double>& flop_per_second() const {
    return flop_per_second_;
  }

 private:
  Compute& compute_;
  Buffer<uint64_t> memory_;
  std::map<ComputeType, double> flop_per_second_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_OPS_MACHINE_LIMITS_H_
