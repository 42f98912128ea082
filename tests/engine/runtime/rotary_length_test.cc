// Rotary positions that depend on how long a request is, and what of it other
// requests may share.

#include <memory>
#include <random>
#include <variant>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

constexpr int kBlock = KvLayout::kBlockTokens;

std::vector<int> Tokens(int count) {
  std::mt19937 random(1);
  std::vector<int> tokens(count);
  for (int& token : tokens) token = 3 + static_cast<int>(random() % 60);
  return tokens;
}

EngineRequest Generate(int prompt, int max_new) {
  GenerationParams params;
  params.max_new_tokens = params.min_new_tokens = max_new;
  return {.input = Prompt{Tokens(prompt)}, .task = GenerateTask{params}};
}

class RotaryLengthTest : public testing::Test {
 protected:
  explicit RotaryLengthTest(const char* name)
      : model_(Load(GoldenDirectory(name), {.kv_cache_bytes = 4 << 20})),
        driver_(model_.engine()) {}

  // Tokens that are not computed, of a prompt and what comes after it.
  int64_t Hits(int prompt, int max_new = 1) {
    const int64_t before = driver_.context().counts().hit_tokens;
    driver_.Run({Generate(prompt, max_new)});
    return driver_.context().counts().hit_tokens - before;
  }

  LoadedModel model_;
  Driver driver_;
};

// Longrope: another set of frequencies for all tokens beyond 42.
class LongRotaryTest : public RotaryLengthTest {
 protected:
  LongRotaryTest() : RotaryLengthTest("families/phi3-4x-longrope") {}
};

TEST_F(LongRotaryTest, ShortAndLongShareWithTheirKind) {
  EXPECT_EQ(Hits(42), 0);
  EXPECT_EQ(Hits(42), 2 * kBlock);
  EXPECT_EQ(Hits(43), 0);
  EXPECT_EQ(Hits(60), 2 * kBlock);
  EXPECT_EQ(Hits(60), 3 * kBlock);
  EXPECT_EQ(Hits(35), 2 * kBlock);
}

TEST_F(LongRotaryTest, WhatBecomesLongIsComputedAgain) {
  driver_.Run({Generate(40, 3)});
  const StepCounts within = driver_.context().counts();
  EXPECT_EQ(within.queried_tokens, 39);
  const int steps = driver_.steps();
  // The third new token is chosen after 42 tokens, the fourth after 43, all of
  // them anew.
  driver_.Run({Generate(40, 4)});
  const StepCounts beyond = driver_.context().counts();
  EXPECT_EQ(beyond.queried_tokens - within.queried_tokens, 39 + 42);
  EXPECT_EQ(beyond.hit_tokens - within.hit_tokens, 2 * kBlock);
  EXPECT_EQ(driver_.steps() - steps, steps + 2);
}

TEST_F(LongRotaryTest, ARequestThatBecomesLongGivesItsBlocksBack) {
  // The sequence gives its blocks back to the context.
  const auto context = model_.engine().NewContext();
  const auto sequence = *model_.engine().NewSequence(Generate(42, 2));
  const auto step = [&](int rows) {
    ASSERT_TRUE(
        context->Step({.preempted = {}, .pieces = {{sequence.get(), rows}}})
            .ok());
  };
  step(41);
  step(1);
  EXPECT_EQ(sequence->blocks(), 0);
  const Work again = sequence->Next();
  EXPECT_EQ(again.phase, Phase::kPrompt);
  EXPECT_EQ(again.rows, 42);
  EXPECT_EQ(again.blocks, 3);
}

// Dynamic: the frequencies of a prompt are those of its length beyond 40.
class DynamicRotaryTest : public RotaryLengthTest {
 protected:
  DynamicRotaryTest() : RotaryLengthTest("families/llama-4x-dynamic-rope") {}
};

TEST_F(DynamicRotaryTest, LongPromptsShareWithThoseOfTheirLength) {
  EXPECT_EQ(Hits(40), 0);
  EXPECT_EQ(Hits(36), 2 * kBlock);
  EXPECT_EQ(Hits(41), 0);
  EXPECT_EQ(Hits(41), 2 * kBlock);
  EXPECT_EQ(Hits(50), 0);
  EXPECT_EQ(Hits(50), 3 * kBlock);
}

TEST_F(DynamicRotaryTest, NothingIsComputedAgain) {
  driver_.Run({Generate(38, 10)});
  EXPECT_EQ(driver_.context().counts().queried_tokens, 37);
  EXPECT_EQ(driver_.steps(), 1 + 10);
}

TEST_F(DynamicRotaryTest, PiecesPreemptionAndSharingDoNotShow) {
  const auto requests = [] {
    std::vector<EngineRequest> all;
    for (const int prompt : {30, 39, 40, 41, 50, 50, 62, 33}) {
      all.push_back(Generate(prompt, 20));
      GenerationParams& params = std::get<GenerateTask>(all.back().task).params;
      params.log_probs = true;
      params.num_beams = params.num_return_sequences = 1 + prompt % 3;
    }
    return all;
  };
  std::vector<SequenceOutput> alone;
  const LoadedModel off =
      Load(GoldenDirectory("families/llama-4x-dynamic-rope"),
           {.kv_cache_bytes = 4 << 20, .prefix_cache = false});
  for (const EngineRequest& request : requests()) {
    alone.push_back(Driver(off.engine()).Run({request})[0]);
  }
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Driver driver(model_.engine(),
                  {.max_rows = 9, .seed = seed, .preempt_at_random = true});
    const auto outputs = driver.Run(requests());
    EXPECT_GT(driver.preemptions(), 0);
    ExpectSameBits(outputs, alone);
  }
}

TEST_F(DynamicRotaryTest, TheModelHasAsManyPositionsAsItIsStretchedTo) {
  EXPECT_EQ(model_.engine().info().max_target_tokens, 140);
}

}  // namespace
}  // namespace attend
