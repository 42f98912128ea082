#include "engine/ops/exec/exec_context.h"

#include <algorithm>
#include <cstddef>

#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/tensor/check.h"

namespace attend {

ExecContext::ExecContext(Compute& compute, const Primitives& primitives)
    : compute_(compute), first_member_(0) {
  ATTEND_CHECK(compute.isa() == primitives.isa());
  const int members = compute.team().size();
  const size_t floats = primitives.scratch_floats();
  // The scratch of each member begins at a cache line.
  const size_t stride = (floats + 15) / 16 * 16;
  if (members == 1) {
    memory_ = Buffer<float>::OfSteps(floats);
    scratch_ = {memory_.data(), floats};
    dnnl_ = std::make_unique<DnnlMember>(primitives.dnnl().engine(),
                                         primitives.dnnl().needs());
    return;
  }
  memory_ = Buffer<float>::OfSteps(
      std::max(members * stride, primitives.exchange_floats()));
  for (int member = 0; member < members; ++member) {
    alone_.emplace_back(
        new ExecContext(compute.alone(), primitives, member,
                        {memory_.data() + member * stride, floats}));
  }
}

ExecContext::ExecContext(Compute& compute, const Primitives& primitives,
                         int first_member, absl::Span<float> scratch)
    : compute_(compute),
      first_member_(first_member),
      scratch_(scratch),
      dnnl_(std::make_unique<DnnlMember>(primitives.dnnl().engine(),
                                         primitives.dnnl().needs())) {}

ExecContext::~ExecContext() = default;

}  // namespace attend
