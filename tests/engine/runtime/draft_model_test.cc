// What a draft model drafts shows in nothing but the number of steps.

#include <algorithm>
#include <memory>
#include <string>
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

// A model, and another one with the same ids.
struct Pair {
  const char* model;
  const char* other;
  ComputeType dtype = ComputeType::kF32;
};

class DraftModelTest : public ::testing::TestWithParam<Pair> {
 protected:
  // The model; `draft` drafts for it as if it took no time.
  static LoadedModel LoadWith(const std::string& draft, int blocks = 400,
                              int threads = 1, bool prompt_lookup = false) {
    const std::string directory = GoldenDirectory(GetParam().model);
    return Load(directory,
                {.max_step_rows = 64,
                 .kv_cache_bytes = PoolBytes(directory, blocks),
                 .prompt_lookup = prompt_lookup,
                 .draft_cost = 0,
                 .dtype = GetParam().dtype},
                threads, draft.empty() ? "" : GoldenDirectory(draft));
  }
  void SetUp() override {
    if (!CheckComputeType(GetParam().dtype, TestIsa()).ok()) {
      GTEST_SKIP() << "this CPU has no such matmuls";
    }
  }
  static bool Drafts(const LoadedModel& model) {
    return model.compute->isa() >= Isa::kAvx2;
  }
};

EngineRequest Greedy(const Engine& engine, int tokens, int max_new, int seed) {
  std::vector<int> ids(tokens);
  for (int i = 0; i < tokens; ++i) ids[i] = 3 + (i * seed + i * i) % 60;
  GenerationParams params;  // nothing ends a text, no token is forbidden
  params.decoder_start_id = engine.info().generation.decoder_start_id;
  params.max_new_tokens = max_new;
  return {.input = InputOf(engine.info(), {.ids = std::move(ids)}),
          .task = GenerateTask{params}};
}

std::vector<EngineRequest> GreedyRequests(const Engine& engine, int count,
                                          int tokens, int max_new) {
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(Greedy(engine, tokens, max_new, i + 1));
  }
  return requests;
}

// Of all kinds; most have one choice, which may be drafted.
std::vector<EngineRequest> AllKinds(const Engine& engine) {
  constexpr int kCount = kSanitized ? 12 : 40;
  auto requests = OneChoiceRequests(engine, kCount);
  for (EngineRequest& request : RandomRequests(engine, kCount / 2, 20, 20, 7)) {
    requests.insert(requests.begin() + requests.size() / 2, request);
  }
  return requests;
}

TEST_P(DraftModelTest, ResultsHaveTheSameBitsAsWithoutIt) {
  const LoadedModel off = LoadWith("");
  const auto expected = RunAlone(off.engine(), AllKinds(off.engine()));
  for (const char* draft : {GetParam().model, GetParam().other}) {
    for (uint32_t order = 1; order < 4; ++order) {
      SCOPED_TRACE(testing::Message() << draft << " " << order);
      const LoadedModel on =
          LoadWith(draft, 20, 1 + order % 2, /*prompt_lookup=*/order == 3);
      Driver driver(
          on.engine(),
          {.max_rows = 20, .seed = order, .preempt_at_random = order == 2});
      ExpectSameBits(driver.Run(AllKinds(on.engine())), expected);
      const StepCounts counts = driver.context().counts();
      EXPECT_EQ(counts.model_draft_tokens > 0, Drafts(on));
      EXPECT_EQ(counts.model_draft_tokens < counts.draft_tokens,
                order == 3 && Drafts(on));
    }
  }
}

TEST_P(DraftModelTest, ALoneRequestHasTheSameBitsAsWithoutIt) {
  const LoadedModel off = LoadWith("");
  const auto expected = RunAlone(off.engine(), AllKinds(off.engine()));
  for (const char* draft : {GetParam().model, GetParam().other}) {
    const LoadedModel on = LoadWith(draft);
    Driver driver(on.engine());
    std::vector<SequenceOutput> outputs;
    for (EngineRequest& request : AllKinds(on.engine())) {
      outputs.push_back(driver.Run({request})[0]);
    }
    ExpectSameBits(outputs, expected);
    const StepCounts counts = driver.context().counts();
    EXPECT_EQ(counts.model_draft_tokens > 0, Drafts(on));
    EXPECT_LE(counts.accepted_model_draft_tokens, counts.model_draft_tokens);
    if (draft == GetParam().model) {
      EXPECT_GE(counts.accepted_model_draft_tokens,
                counts.model_draft_tokens / 4);
    }
  }
}

TEST_P(DraftModelTest, AModelAgreesWithItself) {
  const LoadedModel off = LoadWith("");
  const LoadedModel on = LoadWith(GetParam().model);
  if (!Drafts(on)) GTEST_SKIP() << "nothing is drafted";
  Driver without(off.engine());
  Driver with(on.engine());
  for (EngineRequest& request : GreedyRequests(off.engine(), 8, 20, 40)) {
    const int before = with.steps();
    ExpectSameBits(with.Run({request}), without.Run({request}));
    // 4, 8 and 15 at once, and the first and the last token.
    EXPECT_LT(with.steps() - before, 12);
  }
  const StepCounts counts = with.context().counts();
  EXPECT_GT(counts.model_draft_tokens, 8 * 30);
  EXPECT_EQ(counts.accepted_model_draft_tokens, counts.model_draft_tokens);
  EXPECT_EQ(with.steps() + counts.accepted_draft_tokens, without.steps());
}

// More rows than the draft model reads before a step.
TEST_P(DraftModelTest, ReadsLongTextsLittleByLittle) {
  const LoadedModel off = LoadWith("");
  const LoadedModel on = LoadWith(GetParam().model);
  if (!Drafts(on)) GTEST_SKIP() << "nothing is drafted";
  Driver driver(on.engine());
  ExpectSameBits(
      driver.Run(GreedyRequests(on.engine(), 2, 60, 30)),
      RunAlone(off.engine(), GreedyRequests(off.engine(), 2, 60, 30)));
  const StepCounts counts = driver.context().counts();
  EXPECT_GT(counts.model_draft_tokens, 2 * 10);
  EXPECT_EQ(counts.accepted_model_draft_tokens, counts.model_draft_tokens);
}

// The number of steps would tell one tenant what another has sent: a draft
// model that knows some of the prompts drafts for them in other steps.
TEST_P(DraftModelTest, PromptsOfOtherSaltsAreReadAsIfNobodyHadSentThem) {
  const LoadedModel on = LoadWith(GetParam().model);
  if (!Drafts(on)) GTEST_SKIP() << "nothing is drafted";
  const auto requests = [&](int first_seed) {
    std::vector<EngineRequest> made;
    for (int i = 0; i < 3; ++i) {
      made.push_back(Greedy(on.engine(), 60, 30, first_seed + i));
    }
    return made;
  };
  const auto steps_after = [&](int others, uint64_t salt) {
    Driver driver(on.engine());
    driver.Run(requests(others));
    const int before = driver.steps();
    std::vector<EngineRequest> salted = requests(1);
    for (EngineRequest& request : salted) request.cache_salt = salt;
    driver.Run(std::move(salted));
    return driver.steps() - before;
  };
  EXPECT_EQ(steps_after(/*others=*/1, /*salt=*/7), steps_after(11, 7));
}

TEST_P(DraftModelTest, WhereManyRunNothingIsDrafted) {
  const LoadedModel on = LoadWith(GetParam().model);
  Driver driver(on.engine());
  driver.Run(GreedyRequests(on.engine(), 5, 6, 30));
  EXPECT_EQ(driver.context().counts().draft_tokens, 0);
}

TEST_P(DraftModelTest, WhoseTokensAreRefusedDraftsFewAndSeldom) {
  const LoadedModel on = LoadWith(GetParam().other);
  Driver driver(on.engine());
  for (int i = 0; i < 20; ++i) {
    driver.Run(GreedyRequests(on.engine(), 1, 5, 50));
  }
  const StepCounts counts = driver.context().counts();
  if (counts.accepted_model_draft_tokens * 10 > counts.model_draft_tokens) {
    GTEST_SKIP() << "these agree";
  }
  EXPECT_LT(counts.model_draft_tokens, 20 * 50 / 8);
}

// As a client does that goes away.
TEST_P(DraftModelTest, ASequenceThatEndsEarlyGivesItsMemoryBack) {
  const LoadedModel on = LoadWith(GetParam().model, 16);
  if (!Drafts(on)) GTEST_SKIP() << "nothing is drafted";
  const auto context = on.engine().NewContext();
  for (int i = 0; i < 60; ++i) {
    const int64_t before = context->counts().model_draft_tokens;
    auto sequence = on.engine().NewSequence(Greedy(on.engine(), 40, 20, i));
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    while ((*sequence)->output().choices[0].tokens.size() < 10) {
      const int rows = std::min((*sequence)->Next().rows, 64);
      ASSERT_TRUE(
          context->Step({.preempted = {}, .pieces = {{sequence->get(), rows}}})
              .ok());
    }
    EXPECT_GT(context->counts().model_draft_tokens, before) << i;
  }
  EXPECT_EQ(context->free_blocks(), context->total_blocks());
}

INSTANTIATE_TEST_SUITE_P(
    All, DraftModelTest,
    testing::Values(
        Pair{"families/llama-4x-linear-rope", "families/mistral-no-window"},
        Pair{"families/llama-4x-linear-rope", "families/mistral-no-window",
             ComputeType::kBf16},
        Pair{"families/llama-4x-linear-rope", "families/mistral-no-window",
             ComputeType::kInt8},
        Pair{"families/llama-4x-linear-rope", "families/mistral-no-window",
             ComputeType::kInt4},
        Pair{"families/llama-4x-linear-rope", "families/mistral-no-window",
             ComputeType::kW8},
        Pair{"families/mistral-4x-window", "families/llama-llama3-rope"},
        Pair{"marian/gelu", "marian/logits-bias"},
        Pair{"families/m2m_100-gelu", "families/m2m_100-4x-scaled-long"}),
    [](const auto& test) {
      return absl::StrCat(TestNameOf(test.param.model), "_",
                          TypeName(test.param.dtype));
    });

}  // namespace
}  // namespace attend
