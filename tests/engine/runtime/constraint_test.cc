// Constraints in steps.

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"
#include "tests/support/token_constraint.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kPlain[] = "marian/plain";

EngineRequest Request(const Engine& engine, TokenRules rules) {
  GenerationParams params = engine.info().generation;
  params.max_new_tokens = 12;
  params.min_new_tokens = 12;
  params.num_beams = params.num_return_sequences = 1;
  rules.vocab = engine.info().target_vocab;
  params.constraint = std::make_shared<TokenConstraint>(std::move(rules));
  return {SourceTokens{.ids = {5, 6, 7, 0}}, GenerateTask{params}};
}

// Steps until `steps` are done or the sequence has ended.
void Step(EngineContext& context, Sequence& sequence, int steps) {
  for (int i = 0;
       i < steps && sequence.status().ok() && !sequence.output().finished;
       ++i) {
    StepPlan plan;
    plan.pieces.push_back({&sequence, sequence.Next().rows});
    ASSERT_TRUE(context.Step(plan).ok());
  }
}

class ConstraintTest : public ::testing::Test {
 protected:
  const LoadedModel model_ =
      Load(GoldenDirectory(kPlain), {.max_step_rows = 64,
                                     .max_source_tokens = 48,
                                     .kv_cache_bytes = 8 << 20});
  const Engine& engine_ = model_.engine();
  const std::unique_ptr<EngineContext> context_ = engine_.NewContext();
};

TEST_F(ConstraintTest, EachStepHasTheMasksThatItNeeds) {
  std::atomic<int> masks = 0;
  auto sequence = *engine_.NewSequence(Request(
      engine_, {.allows = [](const auto& tokens,
                             int id) { return id == 20 + int(tokens.size()); },
                .before = [&masks] { ++masks; }}));
  Step(*context_, *sequence, 50);
  ASSERT_TRUE(sequence->output().finished);
  std::vector<int> counted;
  for (int id = 20; id < 32; ++id) counted.push_back(id);
  EXPECT_EQ(sequence->output().choices[0].tokens, counted);
  EXPECT_EQ(masks, 12);
}

TEST_F(ConstraintTest, AFailedMaskEndsItsRequestAlone) {
  auto failing = *engine_.NewSequence(Request(
      engine_,
      {.allows = [](const auto&, int) { return true; }, .fails_after = 3}));
  auto other = *engine_.NewSequence(Request(
      engine_, {.allows = [](const auto&, int id) { return id > 30; }}));
  auto alone = *engine_.NewSequence(Request(
      engine_, {.allows = [](const auto&, int id) { return id > 30; }}));
  Step(*context_, *alone, 50);
  while (!other->output().finished) {
    StepPlan plan;
    plan.pieces.push_back({other.get(), other->Next().rows});
    if (failing != nullptr) {
      plan.pieces.push_back({failing.get(), failing->Next().rows});
    }
    ASSERT_TRUE(context_->Step(plan).ok());
    if (failing != nullptr && !failing->status().ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(failing->status()));
      EXPECT_THAT(failing->status().message(),
                  HasSubstr("constraint: too much work"));
      EXPECT_EQ(failing->output().choices[0].tokens.size(), 3u);
      failing.reset();
    }
  }
  EXPECT_EQ(failing, nullptr);
  EXPECT_EQ(other->output().choices[0].tokens,
            alone->output().choices[0].tokens);
}

TEST_F(ConstraintTest, AFirstMaskThatFailsIsNoSequence) {
  EXPECT_THAT(engine_
                  .NewSequence(Request(
                      engine_, {.allows = [](const auto&, int) { return true; },
                                .fails_after = 0}))
                  .status()
                  .message(),
              HasSubstr("constraint: too much work"));
}

}  // namespace
}  // namespace attend
