// Log-probabilities of the tokens of a prompt that is continued.

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kBlock = KvLayout::kBlockTokens;

std::vector<int> Tokens(int count, int step) {
  std::vector<int> tokens(count);
  for (int i = 0; i < count; ++i) tokens[i] = 3 + i * step % 61;
  return tokens;
}

EngineRequest Generate(std::vector<int> prompt) {
  GenerationParams params;
  params.max_new_tokens = 5;
  params.top_log_probs = 3;
  params.prompt_log_probs = true;
  return {.input = Prompt{std::move(prompt)}, .task = GenerateTask{params}};
}

// The same tokens, after the first.
EngineRequest Score(const std::vector<int>& prompt) {
  return {.input = Prompt{{prompt[0]}},
          .task = ScoreTask{.target = {prompt.begin() + 1, prompt.end()},
                            .top_log_probs = 3}};
}

class PromptLogProbsTest : public ::testing::Test {
 protected:
  PromptLogProbsTest()
      : model_(Load(GoldenDirectory("families/llama-4x-linear-rope"),
                    {.max_step_rows = 64, .kv_cache_bytes = 1 << 20})),
        driver_(model_.engine()) {}

  SequenceOutput Run(EngineRequest request) {
    std::vector<EngineRequest> one;
    one.push_back(std::move(request));
    return driver_.Run(std::move(one))[0];
  }

  const LoadedModel model_;
  Driver driver_;
};

TEST_F(PromptLogProbsTest, AreThoseOfAScore) {
  const std::vector<int> prompt = Tokens(50, 7);
  const SequenceOutput score = Run(Score(prompt));
  const SequenceOutput output = Run(Generate(prompt));
  ASSERT_EQ(output.prompt.tokens.size(), 49u);
  ExpectSameBits(output.prompt, score.choices[0]);
}

TEST_F(PromptLogProbsTest, ChangeNothingOfTheResults) {
  for (int kind = 0; kind < 3; ++kind) {
    SCOPED_TRACE(kind);
    EngineRequest with = Generate(Tokens(40, 11));
    GenerationParams& params = std::get<GenerateTask>(with.task).params;
    params.num_return_sequences = kind == 0 ? 1 : 3;
    params.num_beams = kind == 1 ? 3 : 1;
    params.do_sample = kind == 2;
    params.forced_prefix = {5, 6, 7};
    EngineRequest without = with;
    std::get<GenerateTask>(without.task).params.prompt_log_probs = false;
    const SequenceOutput a = Run(with);
    const SequenceOutput b = Run(without);
    EXPECT_EQ(a.prompt.tokens.size(), 42u);
    EXPECT_TRUE(b.prompt.tokens.empty());
    ASSERT_EQ(a.choices.size(), b.choices.size());
    for (size_t i = 0; i < a.choices.size(); ++i) {
      ExpectSameBits(a.choices[i], b.choices[i]);
    }
  }
}

TEST_F(PromptLogProbsTest, APrefixIsOfThePrompt) {
  const std::vector<int> prompt = Tokens(30, 5);
  const SequenceOutput whole = Run(Generate(prompt));
  EngineRequest cut = Generate({prompt.begin(), prompt.end() - 9});
  std::get<GenerateTask>(cut.task).params.forced_prefix = {prompt.end() - 9,
                                                           prompt.end()};
  ExpectSameBits(Run(std::move(cut)).prompt, whole.prompt);
}

TEST_F(PromptLogProbsTest, OfOneTokenThereAreNone) {
  const SequenceOutput output = Run(Generate({9}));
  EXPECT_TRUE(output.prompt.tokens.empty());
  EXPECT_FALSE(output.choices[0].tokens.empty());
}

TEST_F(PromptLogProbsTest, WhatIsStoredIsComputedAgain) {
  const std::vector<int> prompt = Tokens(3 * kBlock + 2, 7);
  const SequenceOutput first = Run(Generate(prompt));
  ExpectSameBits(Run(Generate(prompt)).prompt, first.prompt);
  EXPECT_EQ(driver_.context().counts().hit_tokens, 0);
  // What these stored serves others.
  EngineRequest without = Generate(prompt);
  std::get<GenerateTask>(without.task).params.prompt_log_probs = false;
  ExpectSameBits(Run(std::move(without)).choices[0], first.choices[0]);
  EXPECT_EQ(driver_.context().counts().hit_tokens, 3 * kBlock);
}

// In the middle of the prompt, and after it.
TEST_F(PromptLogProbsTest, SurvivePreemption) {
  const std::vector<int> prompt = Tokens(4 * kBlock, 7);
  const SequenceOutput expected = Run(Generate(prompt));
  for (bool prefix_cache : {false, true}) {
    const LoadedModel model =
        Load(GoldenDirectory("families/llama-4x-linear-rope"),
             {.max_step_rows = 64,
              .kv_cache_bytes = 1 << 20,
              .prefix_cache = prefix_cache});
    const auto context = model.engine().NewContext();
    const auto sequence = *model.engine().NewSequence(Generate(prompt));
    int steps = 0;
    while (!sequence->output().finished) {
      const Work work = sequence->Next();
      StepPlan plan;
      // A sequence that is preempted is in no piece of that step.
      if (++steps == 3 || steps == 12) {
        plan.preempted.push_back(sequence.get());
      } else {
        const int rows = work.phase == Phase::kPrompt ? 9 : 1;
        plan.pieces.push_back({sequence.get(), std::min(work.rows, rows)});
      }
      ASSERT_TRUE(context->Step(plan).ok());
      // All at once, and before anything else.
      if (!sequence->output().choices[0].tokens.empty()) {
        ASSERT_EQ(sequence->output().prompt.tokens.size(), prompt.size() - 1);
      }
    }
    ExpectSameBits(sequence->output().prompt, expected.prompt);
    ExpectSameBits(sequence->output().choices[0], expected.choices[0]);
    EXPECT_GT(steps, 14);
    EXPECT_EQ(context->counts().hit_tokens > 0, prefix_cache);
  }
}

TEST(PromptLogProbsOfEncodersTest, AreRefused) {
  const LoadedModel model =
      Load(GoldenDirectory("marian/plain"), {.kv_cache_bytes = 8 << 20});
  GenerateTask task = {model.engine().info().generation};
  task.params.prompt_log_probs = true;
  const auto sequence =
      model.engine().NewSequence({.input = SourceTokens{{5, 6}}, .task = task});
  EXPECT_THAT(sequence.status().message(),
              HasSubstr("prompt_log_probs is set, but the model does not "
                        "continue its source"));
}

// As long as can be: every row of the model's predicts a token.
TEST_F(PromptLogProbsTest, ScoresTakeAllRows) {
  const int rows = model_.engine().info().max_target_tokens;
  const std::vector<int> tokens = Tokens(rows + 2, 7);
  const auto score = [&](int count) {
    return model_.engine().NewSequence(
        Score({tokens.begin(), tokens.begin() + count}));
  };
  EXPECT_TRUE(score(rows + 1).ok());
  EXPECT_FALSE(score(rows + 2).ok());
  const SequenceOutput output =
      Run(Score({tokens.begin(), tokens.begin() + rows + 1}));
  EXPECT_EQ(output.choices[0].log_probs.size(), static_cast<size_t>(rows));
}

}  // namespace
}  // namespace attend
