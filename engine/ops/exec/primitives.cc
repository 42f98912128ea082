#include "engine/ops/exec/primitives.h"

#include "engine/ops/exec/dnnl_primitives.h"

namespace attend {

Primitives::Primitives(Compute& compute, size_t scratch_floats)
    : compute_(compute),
      scratch_floats_(scratch_floats),
      weights_(/*shared=*/compute.team().nodes().size() == 1),
      dnnl_(std::make_unique<DnnlPrimitives>()) {}

Primitives::~Primitives() = default;

}  // namespace attend
