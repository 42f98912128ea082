#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/support/allocation_count.h"

namespace attend {
namespace {

TEST(AllocationCountTest, SeesWhatIsAllocated) {
  AllocationCount::Start();
  std::vector<int> vector(1000);
  const AllocationCount count = AllocationCount::Stop();
  EXPECT_EQ(vector.size(), 1000u);
  EXPECT_EQ(count.ours, 1);
}

TEST(AllocationTest, AStepAllocatesNothing) {
  const LoadedModel model =
      Load(ATTEND_SOURCE_DIR "/models/en-de",
           {.max_step_rows = 256, .kv_cache_bytes = 64 << 20});
  const auto context = model.engine().NewContext();
  std::vector<std::unique_ptr<Sequence>> sequences;
  EngineInput earlier;
  for (EngineRequest& request :
       RandomRequests(model.engine(), 120, 60, 60, 4)) {
    // Every third source is that of the one before.
    if (sequences.size() % 3 == 2) request.input = earlier;
    // The alignment of a result takes its memory when the result is there.
    if (auto* task = std::get_if<GenerateTask>(&request.task)) {
      task->params.alignments = false;
    }
    earlier = request.input;
    // Who follows a constraint allocates.
    if (auto* const task = std::get_if<GenerateTask>(&request.task)) {
      task->params.constraint = nullptr;
    }
    auto sequence = model.engine().NewSequence(std::move(request));
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    sequences.push_back(*std::move(sequence));
  }
  StepPlan plan;
  plan.pieces.reserve(256);
  // Sequences join one a few steps and leave when they end, so that the rows
  // of a step rise and fall.
  size_t joined = 0;
  int steps = 0;
  const auto step = [&] {
    if (steps++ % 8 == 0 && joined < sequences.size()) ++joined;
    plan.pieces.clear();
    int rows = 256;
    for (size_t i = 0; i < joined; ++i) {
      const Work work = sequences[i]->Next();
      if (work.phase == Phase::kDone || work.rows > rows) continue;
      plan.pieces.push_back({sequences[i].get(), work.rows});
      rows -= work.rows;
    }
    return plan.pieces.empty() || context->Step(plan).ok();
  };
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(step());
  AllocationCount::Start();
  bool ok = true;
  for (int i = 0; i < 1000; ++i) ok = ok && step();
  const AllocationCount count = AllocationCount::Stop();
  EXPECT_TRUE(ok);
  EXPECT_EQ(joined, sequences.size());
  EXPECT_GT(context->counts().hit_tokens, 0);
  EXPECT_EQ(count.ours, 0);
  RecordProperty("allocations_in_onednn", static_cast<int>(count.onednn));
}

// Prompts that begin alike, one after the other, in greedy search and in beams.
// A draft model drafts.
TEST(AllocationTest, AStepThatFindsItsPromptAllocatesNothing) {
  const std::string directory =
      GoldenDirectory("families/llama-4x-linear-rope");
  const LoadedModel model =
      Load(directory,
           {.max_step_rows = 64, .kv_cache_bytes = 2 << 20, .draft_cost = 0},
           /*threads=*/1, /*draft=*/directory);
  const auto context = model.engine().NewContext();
  std::vector<std::unique_ptr<Sequence>> sequences;
  for (int i = 0; i < 60; ++i) {
    GenerateTask task;
    task.params.max_new_tokens = 20;
    task.params.num_beams = 1 + i % 3;
    task.params.prompt_log_probs = i % 5 == 0;
    task.params.top_log_probs = i % 2;
    Prompt prompt;
    for (int k = 0; k < 50; ++k) {
      prompt.ids.push_back(3 + (k < 20 + i % 20 ? k : k * i) % 60);
    }
    auto sequence = model.engine().NewSequence({prompt, task});
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    sequences.push_back(*std::move(sequence));
  }
  StepPlan plan;
  plan.pieces.reserve(1);
  bool ok = true;
  const auto run = [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      Sequence& sequence = *sequences[i];
      while (ok && sequence.Next().phase != Phase::kDone) {
        plan.pieces.clear();
        plan.pieces.push_back({&sequence, std::min(sequence.Next().rows, 64)});
        ok = context->Step(plan).ok();
      }
      sequences[i].reset();
    }
  };
  run(0, 20);
  const int64_t hits = context->counts().hit_tokens;
  AllocationCount::Start();
  run(20, sequences.size());
  const AllocationCount count = AllocationCount::Stop();
  EXPECT_TRUE(ok);
  EXPECT_EQ(count.ours, 0);
  EXPECT_GT(context->counts().hit_tokens, hits);
  EXPECT_EQ(context->counts().model_draft_tokens > 0,
            model.compute->isa() >= Isa::kAvx2);
}

}  // namespace
}  // namespace attend
