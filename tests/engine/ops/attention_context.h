#ifndef ATTEND_TESTS_ENGINE_OPS_ATTENTION_CONTEXT_H_
#define ATTEND_TESTS_ENGINE_OPS_ATTENTION_CONTEXT_H_

#include "engine/compute/compute.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"

namespace attend {

// A context for attention alone.
class AttentionContext {
 public:
  explicit AttentionContext(Compute& compute)
      : primitives_(compute, AttentionScratchFloats(kWidestHead)),
        context_(compute, primitives_) {}

  ExecContext& get() { return context_; }

 private:
  static constexpr int kWidestHead = 1024;

  const Primitives primitives_;
  ExecContext context_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_ATTENTION_CONTEXT_H_
