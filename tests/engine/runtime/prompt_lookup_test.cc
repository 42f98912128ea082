// Drafted tokens show in nothing but the number of steps.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

class PromptLookupRuntimeTest : public ::testing::TestWithParam<const char*> {
 protected:
  LoadedModel LoadWith(bool prompt_lookup, int blocks = 40,
                       int threads = 1) const {
    const std::string directory = GoldenDirectory(GetParam());
    return Load(directory,
                {.max_step_rows = 64,
                 .kv_cache_bytes = PoolBytes(directory, blocks),
                 .prompt_lookup = prompt_lookup},
                threads);
  }
};

EngineInput Input(const Engine& engine, std::vector<int> tokens) {
  if (engine.info().continues_source) return Prompt{std::move(tokens)};
  return SourceTokens{.ids = std::move(tokens)};
}

// Inputs that repeat themselves, with all that a choice may depend on.
std::vector<EngineRequest> Requests(const Engine& engine, int count) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    std::vector<int> tokens(draw(4, 30));
    for (int& token : tokens) token = draw(3, 8);
    GenerationParams params = engine.info().generation;
    params.num_beams = params.num_return_sequences = 1;
    params.max_new_tokens = draw(1, 40);
    params.log_probs = draw(0, 1) == 1;
    params.top_log_probs = params.log_probs ? draw(0, 2) : 0;
    params.do_sample = draw(0, 2) == 0;
    params.temperature = 0.2f;
    params.top_k = draw(0, 1) == 0 ? 0 : 4;
    params.seed = i;
    if (draw(0, 3) == 0) params.repetition_penalty = 1.05f;
    if (draw(0, 4) == 0) params.no_repeat_ngram_size = 6;
    if (draw(0, 4) == 0) params.min_new_tokens = params.max_new_tokens / 2;
    if (draw(0, 4) == 0) params.stop_ids = {draw(3, 60)};
    params.alignments = !engine.info().continues_source && draw(0, 3) == 0;
    params.prompt_log_probs = engine.info().continues_source && draw(0, 5) == 0;
    requests.push_back({.input = Input(engine, std::move(tokens)),
                        .task = GenerateTask{params}});
  }
  return requests;
}

TEST_P(PromptLookupRuntimeTest, ResultsHaveTheSameBitsAsWithoutIt) {
  constexpr int kCount = kSanitized ? 30 : 80;
  const LoadedModel off = LoadWith(false);
  const auto expected = RunAlone(off.engine(), Requests(off.engine(), kCount));
  for (uint32_t order = 0; order < 3; ++order) {
    SCOPED_TRACE(order);
    const LoadedModel on = LoadWith(true, order == 0 ? 400 : 12, 1 + order % 2);
    Driver driver(on.engine(), {.max_rows = order == 0 ? 4 : 20,
                                .seed = order,
                                .preempt_at_random = order == 2});
    ExpectSameBits(driver.Run(Requests(on.engine(), kCount)), expected);
    const StepCounts counts = driver.context().counts();
    if (on.compute->isa() < Isa::kAvx512) {
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
  if (on.compute->isa() < Isa::kAvx512) GTEST_SKIP() << "nothing is drafted";
  Driver without(off.engine());
  Driver with(on.engine());
  for (EngineRequest& request : Requests(off.engine(), 10)) {
    std::get<GenerateTask>(request.task).params.max_new_tokens = 60;
    ExpectSameBits(with.Run({request}), without.Run({request}));
  }
  const StepCounts counts = with.context().counts();
  EXPECT_EQ(with.steps() + counts.accepted_draft_tokens, without.steps());
  EXPECT_GT(counts.accepted_draft_tokens, without.steps() / 20);
}

INSTANTIATE_TEST_SUITE_P(All, PromptLookupRuntimeTest,
                         testing::Values("families/llama-4x-linear-rope",
                                         "families/mistral-4x-window",
                                         "marian/plain",
                                         "families/m2m_100-gelu"),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
