#ifndef ATTEND_TESTS_ENGINE_OPS_TEST_EXEC_H_
#define ATTEND_TESTS_ENGINE_OPS_TEST_EXEC_H_

#include <optional>

#include "engine/compute/compute.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {

// The primitives that ops are made with, and the context that they run on.
struct TestExec {
  explicit TestExec(int threads, std::optional<NumaNodes> nodes = std::nullopt)
      : compute({.threads = threads, .max_isa = TestIsa(), .nodes = nodes}) {}

  // For ops that were made before the first call.
  ExecContext& context() {
    if (!made) made.emplace(compute, primitives);
    return *made;
  }

  Compute compute;
  Primitives primitives{compute};
  std::optional<ExecContext> made;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_TEST_EXEC_H_
