#ifndef ATTEND_TESTS_BENCH_OPS_DNNL_RATE_H_
#define ATTEND_TESTS_BENCH_OPS_DNNL_RATE_H_

#include <memory>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"

namespace attend {

// FLOP a second of oneDNN's own matmul in `dtype`, in the layouts that it likes
// best, at the best of some shapes and numbers of rows: each member of the team
// multiplies rows of its own, all at once. A product and a sum are two FLOP,
// whole numbers included. CheckComputeType(dtype) must hold; ends the program
// where oneDNN fails.
double DnnlFlopPerSecond(Compute& compute, ComputeType dtype);

// The two matmuls of attention in f32, queries with keys and weights with
// values, of 512 queries and keys of one head, likewise: what attention would
// take without its softmax, and if keys and values lay as oneDNN likes.
class DnnlAttention {
 public:
  DnnlAttention(Compute& compute, int head_dim);
  ~DnnlAttention();

  // FLOP a second of a round of some milliseconds, now.
  double FlopPerSecond();

 private:
  class Matmul;
  std::unique_ptr<Matmul> scores_;
  std::unique_ptr<Matmul> values_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_OPS_DNNL_RATE_H_
