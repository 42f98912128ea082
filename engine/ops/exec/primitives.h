#ifndef ATTEND_ENGINE_OPS_EXEC_PRIMITIVES_H_
#define ATTEND_ENGINE_OPS_EXEC_PRIMITIVES_H_

#include <algorithm>
#include <cstddef>
#include <memory>

#include "engine/compute/compute.h"
#include "engine/tensor/shared_pages.h"

namespace attend {

class DnnlPrimitives;

// What the ops of one model share: oneDNN's primitives (making one takes 40 to
// 200 us, and layers repeat few shapes), the memory of weights, and the amount
// of memory that an ExecContext needs. Changes while ops are made, then const.
// Must outlive the ops made with it.
class Primitives {
 public:
  // The packing_team() of `compute` packs weights, for its isa(), and in slices
  // for the number of members of its team(). Ops need `compute` at load only.
  // `scratch_floats`: scratch a member for ops that are functions, as
  // Attention().
  explicit Primitives(Compute& compute, size_t scratch_floats = 0);
  ~Primitives();
  Primitives(const Primitives&) = delete;
  Primitives& operator=(const Primitives&) = delete;

  Compute& compute() { return compute_; }
  Isa isa() const { return compute_.isa(); }

  // Called by ops when they are made: an op needs this many floats of
  // ExecContext::scratch(), or of ExecContext::exchange().
  void ReserveScratch(size_t floats) {
    scratch_floats_ = std::max(scratch_floats_, floats);
  }
  void ReserveExchange(size_t floats) {
    exchange_floats_ = std::max(exchange_floats_, floats);
  }
  size_t scratch_floats() const { return scratch_floats_; }
  size_t exchange_floats() const { return exchange_floats_; }

  // Of the ops' weights. Where the team is on several nodes, no op's weights
  // share a page with another's.
  SharedPages& weights() { return weights_; }

  // For the matmuls.
  DnnlPrimitives& dnnl() { return *dnnl_; }
  const DnnlPrimitives& dnnl() const { return *dnnl_; }

 private:
  Compute& compute_;
  size_t scratch_floats_;
  size_t exchange_floats_ = 0;
  SharedPages weights_;
  std::unique_ptr<DnnlPrimitives> dnnl_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_PRIMITIVES_H_
