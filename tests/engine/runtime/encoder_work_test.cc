// What an encoder's requests ask of a step.

#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

TEST(EncoderWorkTest, WhatOnlyEncodesUsesNoBlocks) {
  const LoadedModel model =
      Load(GoldenDirectory("families/bert-mask"),
           {.max_step_rows = 16, .max_source_tokens = 48, .kv_cache_bytes = 0});
  const auto context = model.engine().NewContext();
  EngineRequest request;
  request.task = EmbedTask{};
  request.input = SourceTokens{.ids = std::vector<int>(20, 5)};
  auto sequence = model.engine().NewSequence(request);
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  // Neither at its start nor cut in the middle.
  for (int step = 0; step < 2; ++step) {
    const Work work = (*sequence)->Next();
    EXPECT_EQ(work.phase, Phase::kEncode);
    EXPECT_EQ(work.blocks, 0);
    EXPECT_FALSE(work.uses_blocks);
    StepPlan plan;
    plan.pieces.push_back({.sequence = sequence->get(), .rows = 16});
    ASSERT_TRUE(context->Step(plan).ok());
  }
  EXPECT_TRUE((*sequence)->output().finished);
}

}  // namespace
}  // namespace attend
