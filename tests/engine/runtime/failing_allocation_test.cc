// Allocations fail in turn while a model is loaded: it is refused, and the next
// one loads. Not of models with Marian's or M2M100's vocabularies: these are
// hash maps of Abseil's, which no failed allocation leaves whole. A step takes
// no memory.

#include <gtest/gtest.h>

#include <memory>

#include "engine/runtime/model.h"
#include "engine/tensor/out_of_memory.h"
#include "tests/engine/runtime/golden.h"
#include "tests/support/allocation_count.h"

namespace attend {
namespace {

const EngineOptions kOptions = {.max_step_rows = 32, .kv_cache_bytes = 1 << 20};

// Each of the first allocations, then fewer and fewer of the others.
long Next(long n) { return n < 20 ? n + 1 : n + n / 5; }

class FailingAllocationTest : public testing::TestWithParam<const char*> {
 protected:
  absl::StatusOr<Model> TryToLoad() {
    return CatchOutOfMemory([&] {
      return LoadModel(compute_, GoldenDirectory(GetParam()), "test", kOptions);
    });
  }

  // The number of loads that were refused.
  int FailEach(size_t bytes) {
    int refused = 0;
    for (long n = 0;; n = Next(n)) {
      AllocationFault::Arm(n, bytes);
      const auto model = TryToLoad();
      const auto context = CatchOutOfMemory(
          [&]() -> absl::StatusOr<std::unique_ptr<EngineContext>> {
            if (!model.ok()) return model.status();
            return model->engine->NewContext();
          });
      if (!AllocationFault::Disarm()) return refused;
      refused += !context.ok();
    }
  }

  Compute compute_{{.threads = 1}};
};

TEST_P(FailingAllocationTest, AModelWithoutMemoryIsRefused) {
  EXPECT_GT(FailEach(0), 20);
  EXPECT_GT(FailEach(4096), 5);
  EXPECT_TRUE(TryToLoad().ok());
}

INSTANTIATE_TEST_SUITE_P(Models, FailingAllocationTest,
                         testing::Values("families/bart-gelu",
                                         "families/gpt2-gelu"),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
