#include "engine/ops/exec/exec_context.h"

#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/tensor/check.h"

namespace attend {

ExecContext::ExecContext(Compute& compute, const Primitives& primitives)
    : ExecContext(compute, primitives, 0) {}

ExecContext::ExecContext(Compute& compute, const Primitives& primitives,
                         int first_member)
    : compute_(compute), first_member_(first_member) {
  ATTEND_CHECK(compute.isa() == primitives.isa());
  const int members = compute.team().size();
  if (members == 1) {
    scratch_ = Buffer<float>(primitives.scratch_floats());
    dnnl_ = std::make_unique<DnnlMember>(primitives.dnnl().engine(),
                                         primitives.dnnl().needs());
    return;
  }
  for (int member = 0; member < members; ++member) {
    alone_.emplace_back(new ExecContext(compute.alone(), primitives, member));
  }
  exchange_ = Buffer<float>(primitives.exchange_floats());
}

ExecContext::~ExecContext() = default;

}  // namespace attend
