// Drafted tokens show in nothing but the number of steps.

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

struct TestModel {
  const char* directory;
  ComputeType dtype = ComputeType::kF32;
};

class PromptLookupRuntimeTest : public ::testing::TestWithParam<TestModel> {
 protected:
  void SetUp() override {
    if (!CheckComputeType(GetParam().dtype, TestIsa()).ok()) {
      GTEST_SKIP() << "this CPU has no such matmuls";
    }
  }
  LoadedModel LoadWith(bool prompt_lookup, int blocks = 40,
                       int threads = 1) const {
    const std::string directory = GoldenDirectory(GetParam().directory);
    return Load(directory,
                {.max_step_rows = 64,
                 .kv_cache_bytes = PoolBytes(directory, blocks),
                 .prompt_lookup = prompt_lookup,
                 .dtype = GetParam().dtype},
                threads);
  }
};

TEST_P(PromptLookupRuntimeTest, ResultsHaveTheSameBitsAsWithoutIt) {
  constexpr int kCount = kSanitized ? 30 : 120;
  const LoadedModel off = LoadWith(false);
  const auto expected =
      RunAlone(off.engine(), OneChoiceRequests(off.engine(), kCount));
  for (uint32_t order = 0; order < 3; ++order) {
    SCOPED_TRACE(order);
    const LoadedModel on = LoadWith(true, order == 0 ? 400 : 12, 1 + order % 2);
    Driver driver(on.engine(), {.max_rows = order == 0 ? 4 : 20,
                                .seed = order,
                                .preempt_at_random = order == 2});
    ExpectSameBits(driver.Run(OneChoiceRequests(on.engine(), kCount)),
                   expected);
    const StepCounts counts = driver.context().counts();
    if (on.compute->isa() < Isa::kAvx2) {
      EXPECT_EQ(counts.draft_tokens, 0);
      continue;
    }
    EXPECT_GT(counts.accepted_draft_tokens, 0);
    EXPECT_LT(counts.accepted_draft_tokens, counts.draft_tokens);
    EXPECT_EQ(driver.context().free_blocks(), driver.context().total_blocks());
  }
}

TEST_P(PromptLookupRuntimeTest, EachAcceptedTokenSparesAStep) {
  const LoadedModel off = LoadWith(false);
  const LoadedModel on = LoadWith(true);
  if (on.compute->isa() < Isa::kAvx2) GTEST_SKIP() << "nothing is drafted";
  Driver without(off.engine());
  Driver with(on.engine());
  for (EngineRequest& request : OneChoiceRequests(off.engine(), 10)) {
    std::get<GenerateTask>(request.task).params.max_new_tokens = 60;
    ExpectSameBits(with.Run({request}), without.Run({request}));
  }
  const StepCounts counts = with.context().counts();
  EXPECT_EQ(with.steps() + counts.accepted_draft_tokens, without.steps());
  EXPECT_GT(counts.accepted_draft_tokens, without.steps() / 20);
}

INSTANTIATE_TEST_SUITE_P(
    All, PromptLookupRuntimeTest,
    testing::Values(TestModel{"families/llama-4x-linear-rope"},
                    TestModel{"families/mistral-4x-window"},
                    TestModel{"marian/plain"},
                    TestModel{"families/m2m_100-gelu"},
                    TestModel{"marian/plain", ComputeType::kBf16},
                    TestModel{"marian/plain", ComputeType::kInt8},
                    TestModel{"marian/plain", ComputeType::kInt4},
                    TestModel{"marian/plain", ComputeType::kW8}),
    [](const auto& test) {
      return absl::StrCat(TestNameOf(test.param.directory), "_",
                          TypeName(test.param.dtype));
    });

}  // namespace
}  // namespace attend
